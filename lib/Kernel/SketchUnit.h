//===- SketchUnit.h - The running unit of causal sketched keys -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The power |k|^p' of a key's sketch passes the range of f32, and a causal query may take no unit from a later key. So
// sketches of keys stay those of directions, and each query i takes M_i = max_{j ≤ i} |k_j| as its unit: the weight of key
// j has the factor (|k_j| / M_i)^p' ≤ 1. A state of keys before a query is in the unit of the last of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCHUNIT_H
#define ATTUNE_LIB_KERNEL_SKETCHUNIT_H

#include "Power.h"
#include "Sketch.h"

namespace attune::kernel {

struct RunningUnit {
  mlir::Value lengths; ///< |k_j| (SketchTree.h) [batch, H, N], 0 of keys that do not exist
  mlir::Value largest; ///< M_i [batch, H, n]
  int64_t power = 0;   ///< p'

  explicit operator bool() const { return static_cast<bool>(largest); }
  llvm::SmallVector<mlir::Value> values() const { return {lengths, largest}; }
  /// The same memories inside a kernel.
  RunningUnit in(const KernelFrame &frame) const;

  // Inside a kernel.
  /// M of the queries first … [rows].
  mlir::Value ofQueries(TileBuilder &tiles, const Point &point, mlir::Value first, int64_t rows) const;
  /// (|k_j| / M_i)^p' of pairs [rows, rows]; keys at or past `limit` give 0.
  mlir::Value ofPairs(TileBuilder &tiles, const Point &point, mlir::Value firstQuery, mlir::Value firstKey, int64_t rows,
                      mlir::Value limit) const;
  /// (|k_j| / M_last)^p' of the keys first … [rows].
  mlir::Value ofKeys(TileBuilder &tiles, const Point &point, mlir::Value first, int64_t rows, mlir::Value limit,
                     mlir::Value last) const;
  /// (M_before / M_i)^p' of the queries first … [rows].
  mlir::Value ofState(TileBuilder &tiles, const Point &point, mlir::Value before, mlir::Value first, int64_t rows) const;
};

/// What tokens x [T, d] are divided by before the tree: their norm; with pairs the power of two next to it, which loses
/// nothing. 0 of null tokens: [T].
mlir::Value sketchLength(TileBuilder &tiles, mlir::Value x, bool pairs);

/// x [1] as [rows].
mlir::Value repeat(TileBuilder &tiles, mlir::Value x, int64_t rows);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCHUNIT_H
