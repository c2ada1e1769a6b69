//===- GroupHeads.h - Heads that share keys as rows of one -*- C++ -* ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_GROUPHEADS_H
#define ATTUNE_LIB_KERNEL_GROUPHEADS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace attune::kernel {

/// Gives exact attention of one query as many queries as each key has heads (GroupedRows.h), not causal, with views of the memories of its query and
/// output that are made on the host. `memories`: of arguments and results of `source`.
void groupHeads(mlir::func::FuncOp source, mlir::IRMapping &memories, mlir::OpBuilder &host);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_GROUPHEADS_H
