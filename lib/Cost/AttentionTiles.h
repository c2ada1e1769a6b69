//===- AttentionTiles.h - Sizes of the tiles of one attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_ATTENTIONTILES_H
#define ATTUNE_LIB_COST_ATTENTIONTILES_H

#include "attune/Cost/AttentionShape.h"
#include "attune/Tile/Tile.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace attune::cost {

inline constexpr int64_t threadsPerWarp = 32, fragmentRows = 16;

/// Rows of a GPU's tiles are padded to the depth of an `mma`.
inline int64_t padded(int64_t width) { return llvm::alignTo(width, 16); }

/// Wider rows fit on no device either, and products of these with each other and with a tile's rows are numbers of 64 bits.
inline int64_t bounded(int64_t width) { return std::min<int64_t>(width, 1 << 24); }

/// The tiles of one attention with a schedule. Names of sizes are those of the formulas.
struct Tiles {
  Tiles(const AttentionShape &shape, tile::ScheduleAttr schedule)
      : shape(shape), warps(schedule.getWarpGrid()), Tq(schedule.getQueryTile()), Tk(schedule.getKeyTile()),
        stages(schedule.getStages()), d(bounded(shape.width)), m(bounded(shape.features)), dv(bounded(shape.valueWidth)),
        isF16(schedule.getOperand().isF16()), isF32(schedule.getOperand().isF32()), stored(isF32 ? 4 : 2),
        mapped(isF16 ? 4 : stored) {}

  const AttentionShape &shape;
  tile::WarpGrid warps;
  int64_t Tq, Tk, stages, d, m, dv;
  bool isF16, isF32;
  int64_t stored, mapped; ///< bytes of an operand: of a stored element, of features and of their products

  /// Registers of a thread for a tile that has been computed: each row of the grid of warps holds 16 rows of it at a
  /// time, each column of the grid an equal range of columns.
  int64_t held(int64_t rows, int64_t columns) const {
    return llvm::alignTo(rows, fragmentRows * warps.rows) * llvm::alignTo(padded(columns), 8 * warps.columns) /
           (warps.count() * threadsPerWarp);
  }
  /// The same as the first operand of products. Where several warps share a row it is read from shared memory, 16 columns
  /// at a time.
  int64_t operand(int64_t rows, int64_t columns, int64_t bytes) const {
    return warps.columns > 1 ? 0 : held(rows, columns) * bytes / 4;
  }
  /// Bytes of it there.
  int64_t operandBytes(int64_t rows, int64_t columns, int64_t bytes) const {
    return warps.columns > 1 ? rows * padded(columns) * bytes : 0;
  }
  int64_t output() const { return held(Tq, dv); }
  /// Products of f32 that are added to something have sums of their own.
  int64_t apart(int64_t accumulators) const { return isF32 ? accumulators : 0; }
  /// Keys that are rotated or normalised in the load.
  int64_t keySteps() const { return shape.keyRope || shape.keyNorm ? held(Tk, d) : 0; }
  int64_t queryBytes() const { return Tq * padded(d) * stored; }
  int64_t keyAndValueBytes() const { return std::max<int64_t>(1, stages) * Tk * (padded(d) + padded(dv)) * stored; }
};

inline bool hasProjection(const Tiles &t) {
  return t.shape.map && (t.shape.map.isFavor() || t.shape.map.getKind() == attn::FeatureKind::FavorRelu);
}

/// Bytes of omega where the tokens have not met it yet.
inline int64_t omegaBytes(const Tiles &t) {
  return hasProjection(t) && !t.shape.keyFolded ? padded(t.m) * padded(t.d) * t.stored : 0;
}

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_ATTENTIONTILES_H
