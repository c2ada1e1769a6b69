//===- Prepare.h - What a library computes once from its parameters -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PREPARE_H
#define ATTUNE_LIB_KERNEL_PREPARE_H

#include "Sketch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// The matrices of each polysketch of a function.
using Sketches = llvm::DenseMap<mlir::Operation *, SketchMatrices>;

/// Adds the prepared tensors that the attn function `source` needs to the arguments of its host function: `sketch<i>.<j>`
/// for matrix j of the i-th polysketch.
Sketches addPreparedArguments(mlir::func::FuncOp host, mlir::func::FuncOp source);

/// The function `<name>__prepare` that computes them from the parameters, if `source` needs any. Every plan of a library has
/// the same parameters and sketches, so any of them may be `source`; `host` is its host function.
void buildPrepareFunction(mlir::ModuleOp module, mlir::func::FuncOp host, mlir::func::FuncOp source,
                          tile::ScheduleAttr schedule);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PREPARE_H
