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

/// Pieces of one part of a causal sequence. The states of all parts but the last are summed up before any is read, by as
/// many grid points as there are pieces of them: with few parts one piece each would leave a core without one.
inline int64_t piecesOfPart(int64_t parts) { return parts <= 4 ? parts : 1; }

/// The schedule of kernels that have whole rows of wide tokens beside kernels that have slices: few rows, under warps side by side.
inline ScheduleAttr scheduleOfRows(ScheduleAttr s) {
  constexpr int64_t rows = 16, warps = 8;
  return ScheduleAttr::get(s.getContext(), s.getTarget(), rows, rows, s.getPiece(), s.getOperand(), warps, /*stages=*/1,
                           /*warp_columns=*/warps, s.getParts());
}

} // namespace attune::tile

#endif // ATTUNE_TILE_KERNELSIZES_H
