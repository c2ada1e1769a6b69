//===- SketchRules.h - How sketches are computed, for kernels and their prices -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_SKETCHRULES_H
#define ATTUNE_KERNEL_SKETCHRULES_H

#include "attune/Tile/Tile.h"

#include <cstdint>

namespace attune::kernel {

/// Keys that enter every slice of a sketch's state before the next ones do: those and the state fit a cache of the
/// second level.
inline constexpr int64_t keysOfSketchBlock = 512;

/// Whether |k|^(p/2) leaves the range of f32 for magnitudes from 1e-4 to 1e4, so that sketched keys need a unit.
inline bool sketchNeedsUnit(int64_t degree) { return degree >= 16; }

/// Whether the tree of a sketch of tokens of `width` elements, with `leaves` leaves and that size, carries pairs of
/// numbers, since sums in it may cancel all but the last digits of one.
inline bool sketchHasPairs(int64_t width, int64_t leaves, int64_t size) {
  return leaves >= 16 || size <= (width <= 4 ? 8 : 4);
}

/// The schedule of the kernels that sketch tokens of `width` elements into `size`. They need less of a block than what
/// reads the sketches, and have the tiles of 64 rows that kernels have which are not short of room: then the sketches of
/// two plans are equal kernels. Where that would take more than any device gives a block without being asked, they keep
/// the tiles they have.
inline tile::ScheduleAttr sketchSchedule(tile::ScheduleAttr schedule, int64_t width, int64_t size) {
  constexpr int64_t rows = 64, warps = 4, mostBytes = 48 * 1024;
  int64_t bytes = 4 * (rows * width + (width + size) * size);
  if (schedule.getTarget() != tile::TargetKind::GPU || schedule.isSliced() || schedule.getWarpColumns() != 1 ||
      schedule.getQueryTile() != rows / 2 || schedule.getWarps() != warps / 2 || bytes > mostBytes)
    return schedule;
  return tile::ScheduleAttr::get(schedule.getContext(), schedule.getTarget(), rows, rows, schedule.getPiece(),
                                 schedule.getOperand(), warps, schedule.getStages(), schedule.getWarpColumns(),
                                 schedule.getParts());
}

} // namespace attune::kernel

#endif // ATTUNE_KERNEL_SKETCHRULES_H
