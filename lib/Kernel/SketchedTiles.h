//===- SketchedTiles.h - Tiles of sketched attention -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCHEDTILES_H
#define ATTUNE_LIB_KERNEL_SKETCHEDTILES_H

#include "SketchState.h"

namespace attune::kernel {

/// Whether the state has each product of two entries once. A GPU would read rows that begin anywhere element by
/// element.
bool productsOnce(const Problem &problem, const PolysketchOptions &options);

/// The tiles of queries, and of keys, in blocks of exact weights.
BlockTiles tilesOf(const Problem &problem, const PolysketchOptions &options);

/// A polysketch attention with its sketches in memory.
struct Sketches {
  const Problem &problem; ///< q, k, v as they were
  const PolysketchOptions &options;
  Tokens query, key;                    ///< [batch, H, n, r]
  mlir::Value queryColumns, keyColumns; ///< [batch, H, tiles, r, rows]; null: the state has all products
  mlir::Value queryLengths;             ///< [batch, H, n]
  mlir::Value largest;                  ///< K [batch, H]: keys are in this unit; null: 1
  RunningUnit running;                  ///< the unit of each query; null: that of all
  BlockTiles grid;
  int64_t block = grid.block; ///< tokens of a block
  int64_t rows = grid.rows;   ///< of a tile of queries or keys

  llvm::SmallVector<mlir::Value> values(llvm::ArrayRef<mlir::Value> further = {}) const;
};

/// One tile of queries.
struct QueryTile {
  const Sketches &at;
  const KernelFrame &frame;
  const Point &point;
  TokenReader query, key, value, sketchedQuery, sketchedKey;
  RunningUnit running;
  mlir::Value first, limit; ///< first query; keys at or past the limit do not exist
};

QueryTile queryTile(TileBuilder &tiles, const Sketches &at, const KernelFrame &frame, const Point &point);

/// Workspace for a state, or for one of each of `pieces`.
SketchState allocateState(BuildSite &site, const Sketches &at, mlir::Value pieces = mlir::Value());
/// The same state inside a kernel.
SketchState inKernel(const KernelFrame &frame, const Sketches &at, const SketchState &host);

/// The carry of a tile of queries from the state of the keys before `start`, or of all.
llvm::SmallVector<mlir::Value> readState(TileBuilder &tiles, const QueryTile &tile, const SketchState &state,
                                         const PowerCarry &carry, mlir::Value start);

/// The keys start ≤ j < end of the block that ends at `past` enter every slice.
void addToSlices(TileBuilder &tiles, const QueryTile &tile, const SketchState &state, mlir::Value start,
                 mlir::Value end, mlir::Value past);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCHEDTILES_H
