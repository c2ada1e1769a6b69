//===- Signature.h - The arguments of a host function -*- C++ -*--------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SIGNATURE_H
#define ATTUNE_LIB_KERNEL_SIGNATURE_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace attune::kernel {

/// The host function of an attn function, empty, before it in the module: its arguments are memories, the arguments of the
/// attn function and then its results, each with its name of the spec. Maps arguments and returned values to them.
mlir::func::FuncOp makeHost(mlir::func::FuncOp source, mlir::IRMapping &memories);

/// Says on the host function what `source` needs of sizes that only a run knows: `sizeRulesAttr`, and `equalLengthsAttr` where it
/// needs as many queries as keys.
void addSizeRules(mlir::func::FuncOp source, mlir::func::FuncOp host);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SIGNATURE_H
