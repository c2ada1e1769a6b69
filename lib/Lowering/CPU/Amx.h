//===- Amx.h - Products of tiles of bf16 numbers -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   C[16 × 16] += A[16 × 32] · B[32 × 16]      C in f32; rows of A are 16 pairs, B is [16 pairs][16 columns]
//
// Tiles are registers that are named by number, as the processor names them: a kernel configures them once, when it
// begins, for all dots that it calls. Four tiles hold sums; if some sum of the kernel ends within a tile, one of A and
// one of B are as short as its rest, and one of each is left for whole tiles.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_AMX_H
#define ATTUNE_LOWERING_CPU_AMX_H

#include "Emit.h"

#include "attune/Tile/Tile.h"

namespace attune::cpu {

/// Rows of a tile, its words in a row, and the bf16 numbers of those.
inline constexpr int64_t tileRows = 16, tileWords = 16, tileNumbers = 32;

/// Which of the processor's tiles are what.
struct TileNames {
  int64_t rest; ///< pairs of a row of the short tiles; 0: there are none

  int64_t sum(int64_t i, int64_t j) const { return 2 * i + j; }
  int64_t a(int64_t i) const { return rest ? 4 : 4 + i; }
  int64_t b(int64_t j) const { return rest ? 6 : 6 + j; }
  int64_t shortA() const { return 5; }
  int64_t shortB() const { return 7; }
};

/// Whether the dot multiplies tiles.
bool takesTiles(tile::DotOp dot, const Isa &target);
/// How the kernel's tiles are configured; nothing if none of its dots takes tiles.
std::optional<TileNames> tileNames(tile::KernelOp kernel, const Isa &target);

/// Configures the tiles of this thread.
void configureTiles(Emit &emit, ModuleOp module, TileNames names);
void releaseTiles(Emit &emit);
void zeroTile(Emit &emit, int64_t tile);
/// Rows lie `stride` bytes apart.
void loadTile(Emit &emit, int64_t tile, Value pointer, Value stride);
void storeTile(Emit &emit, int64_t tile, Value pointer, Value stride);
void multiplyTiles(Emit &emit, int64_t sum, int64_t a, int64_t b);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_AMX_H
