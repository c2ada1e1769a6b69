//===- KernelSizes.h - Sizes that kernels and their prices share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_KERNELSIZES_H
#define ATTUNE_TILE_KERNELSIZES_H

#include "attune/Tile/Tile.h"

#include <cstdint>

namespace attune::tile {

/// The words with which sizes are refused that no block of a GPU (docs/Limits.md), or no thread, has room for, whoever
/// finds it out: tests and tools know a refusal by them.
inline constexpr llvm::StringLiteral noScheduleFits = "no schedule fits: ";

/// The most scratch memory of a thread of a CPU: many times what a core's second-level cache holds, and 2 GiB with 64
/// threads.
inline constexpr int64_t mostScratchBytes = int64_t(32) << 20;

/// Columns of the model that a projection takes at a time.
inline constexpr int64_t modelTile = 64;

/// Tokens of a block of packed weights of a compression.
inline constexpr int64_t slotTokens = 64;

/// Keys that enter every slice of a sketch's state before the next ones do: those and the state fit a cache of the
/// second level.
inline constexpr int64_t keysOfSketchBlock = 512;

/// Pieces of one part of a causal sequence. The states of all parts but the last are summed up before any is read, by as
/// many grid points as there are pieces of them: with few parts one piece each would leave a core without one.
inline int64_t piecesOfPart(int64_t parts) { return parts <= 4 ? parts : 1; }

/// Whether |k|^(p/2) leaves the range of f32 for magnitudes from 1e-4 to 1e4, so that sketched keys need a unit.
inline bool sketchNeedsUnit(int64_t degree) { return degree >= 16; }

/// Whether the tree of a sketch of tokens of `width` elements, with `leaves` leaves and that size, carries pairs of
/// numbers, since sums in it may cancel all but the last digits of one.
inline bool sketchHasPairs(int64_t width, int64_t leaves, int64_t size) {
  return leaves >= 16 || size <= (width <= 4 ? 8 : 4);
}

/// The schedule of the kernels that sketch tokens of `width` elements into `size`. They need less of a block than what reads the
/// sketches, and have the tiles of 64 rows that kernels have which are not short of room: then the sketches of two plans are
/// equal kernels. Where that would take more than any device gives a block without being asked, they keep the tiles they have.
inline ScheduleAttr sketchSchedule(ScheduleAttr schedule, int64_t width, int64_t size) {
  constexpr int64_t rows = 64, warps = 4, mostBytes = 48 * 1024;
  int64_t bytes = 4 * (rows * width + (width + size) * size);
  if (schedule.getTarget() != TargetKind::GPU || schedule.getWarpColumns() != 1 || schedule.getQueryTile() != rows / 2 ||
      schedule.getWarps() != warps / 2 || bytes > mostBytes)
    return schedule;
  return ScheduleAttr::get(schedule.getContext(), schedule.getTarget(), rows, rows, schedule.getPiece(),
                           schedule.getOperand(), warps, schedule.getStages(), schedule.getWarpColumns(),
                           schedule.getParts());
}

} // namespace attune::tile

#endif // ATTUNE_TILE_KERNELSIZES_H
