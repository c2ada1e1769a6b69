//===- Supported.h - What attention asks for and no kernel does yet -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SUPPORTED_H
#define ATTUNE_LIB_KERNEL_SUPPORTED_H

#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// An error at the first op or field of a function that no kernel family computes.
mlir::LogicalResult checkSupported(mlir::func::FuncOp function, tile::TargetKind target);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SUPPORTED_H
