//===- Units.h - From one unit to another -*- C++ -*-----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_TILE_UNITS_H
#define ATTUNE_DIALECTS_ATTUNE_TILE_UNITS_H

#include "attune/Tile/TileBuilder.h"

namespace attune::tile {

/// The smallest normal number of f32. Units start there: what is divided by one stays finite.
inline constexpr double leastUnit = 0x1p-126;

/// x [1], or of each row [rows], as [rows] or [rows, columns].
mlir::Value repeated(TileBuilder &tiles, mlir::Value x, llvm::ArrayRef<int64_t> shape);

/// `sum` times a factor of all of it [1], or of each row.
mlir::Value rescaled(TileBuilder &tiles, mlir::Value sum, mlir::Value factor);

/// The power of two next to each of x, at least 2^-120.
mlir::Value powerOfTwoNextTo(TileBuilder &tiles, mlir::Value x);

/// The largest |entry| of x [rows, columns]: [1].
mlir::Value largestEntry(TileBuilder &tiles, mlir::Value x);

/// x^degree, entrywise, of a degree of at least 1.
mlir::Value wholePower(TileBuilder &tiles, mlir::Value x, int64_t degree);

/// 1 / max(x, the smallest normal number).
mlir::Value inverseUnit(TileBuilder &tiles, mlir::Value x);

/// (before / now)^degree for units `before` and `now` and 1 / now: what takes a sum from one unit to the other. Exactly 1 where
/// the unit stays: now · (1 / now) may be a unit in the last place less than 1, and at every step of a long sequence that
/// would let the keys at its beginning fade.
mlir::Value unitFactor(TileBuilder &tiles, mlir::Value before, mlir::Value now, mlir::Value inverse, int64_t degree);

} // namespace attune::tile

#endif // ATTUNE_DIALECTS_ATTUNE_TILE_UNITS_H
