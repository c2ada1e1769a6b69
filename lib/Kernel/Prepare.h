//===- Prepare.h - What a library computes once from its parameters -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PREPARE_H
#define ATTUNE_LIB_KERNEL_PREPARE_H

#include "PreparedWeights.h"
#include "Regions/SketchRegion.h"

namespace attune::kernel {

/// The matrices of each op of a function that sketches.
using Sketches = llvm::DenseMap<mlir::Operation *, SketchMatrices>;

/// Prepared tensors as arguments of a host function.
struct PreparedTensors {
  Sketches sketches;
  llvm::SmallVector<std::pair<PreparedWeight, WeightMemory>> weights;

  /// No memory for a weight that is not prepared.
  WeightMemory lookup(const PreparedWeight &weight) const {
    const auto *found = llvm::find_if(weights, [&](const auto &each) { return each.first.sameAs(weight); });
    return found == weights.end() ? WeightMemory() : found->second;
  }
};

/// What prepare computes from is copied by it: an error unless signs and indices are parameters.
mlir::LogicalResult checkSketches(mlir::func::FuncOp source);

/// Adds the prepared tensors of a library to the arguments of a host function: `sketch<i>.<j>` for matrix j of the i-th
/// sketch of the attn function `source` (equal ones once), then `<weight>.packed`, `<weight>.folded` and `<bias>.folded`, with
/// a number behind further ones of the same weight.
PreparedTensors addPreparedArguments(mlir::func::FuncOp host, mlir::func::FuncOp source,
                                     llvm::ArrayRef<PreparedWeight> weights);

/// The function `<name>__prepare` that computes them from the parameters, if there are any. Every plan of a library has
/// the same parameters and sketches, so any of them may be `source`; `host` is its host function. `weights` are those of all
/// plans.
mlir::LogicalResult buildPrepareFunction(mlir::ModuleOp module, mlir::func::FuncOp host, mlir::func::FuncOp source,
                                         llvm::ArrayRef<PreparedWeight> weights, tile::ScheduleAttr schedule);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PREPARE_H
