//===- VectorAxes.h - Along which axis rank-1 tiles lie -*- C++ -* ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank-1 tile lies along the rows (axis 1 is gone) or the columns (axis 0 is gone) of `c` fragments. All that meet
// elementwise lie alike; which way, the reductions that make them and the expansions that take them say. Where they
// disagree the greater number wins, and the others pay for a conversion. Constants lie anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_VECTORAXES_H
#define ATTUNE_LIB_LOWERING_GPU_VECTORAXES_H

#include "attune/Tile/Tile.h"

#include "llvm/ADT/EquivalenceClasses.h"

namespace attune::device {

/// A tile of rank 1?
bool isVector(mlir::Value value);

class VectorAxes {
public:
  explicit VectorAxes(tile::KernelOp kernel);
  /// The axis that is gone of a rank-1 tile.
  int64_t axisOf(mlir::Value value) const;

private:
  void join(mlir::ValueRange values);
  void visit(mlir::Operation *op);
  void vote(mlir::Value value, int64_t axis);
  void *leader(mlir::Value value) const { return classes.getOrInsertLeaderValue(value.getAsOpaquePointer()); }

  mutable llvm::EquivalenceClasses<void *> classes;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> votes;
  llvm::DenseMap<void *, int64_t> balance; // votes for axis 1, less those for axis 0
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_VECTORAXES_H
