//===- PieceStates.h - States of the pieces of a sequence -*- C++ -*-------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PIECESTATES_H
#define ATTUNE_LIB_KERNEL_PIECESTATES_H

#include "StateTiles.h"

namespace attune::kernel {

/// The keys that a grid point maps; those at or past `limit` do not exist.
struct KeysAtPoint {
  KeysAtPoint(KernelFrame &frame, const Problem &problem, const FeatureMap &map, const Point &point, mlir::Value limit)
      : problem(problem), key(frame.tiles, frame, problem, problem.key, point, parameterHeads(problem, map)),
        value(frame.tiles, frame, problem, problem.value, point, parameterHeads(problem, map)),
        mapped(frame.tiles, frame, problem, map, point), limit(limit) {}

  /// S[m, dv] and z[m] with the tile at j added.
  llvm::SmallVector<mlir::Value> add(TileBuilder &tiles, mlir::Value j, mlir::ValueRange carried) const {
    int64_t keyTile = problem.keyTile();
    Features b = mapped.features(tiles, key, j, keyTile, Side::Key, limit); // [Tk, m]
    b = clearRows(tiles, b, tiles.sub(limit, j)); // φ(0) ≠ 0: keys that do not exist are cleared after the map
    mlir::Value v = value.load(tiles, j, keyTile, limit);                         // [Tk, dv]
    return addKeys(tiles, carried, b, v, kernelOperand(problem, tiles));
  }

  const Problem &problem;
  TokenReader key, value;
  MapAtPoint mapped;
  mlir::Value limit;
};

/// Memories of the host: states [batch, F, pieces, m, dv] and sums [batch, F, pieces, m] of the pieces, and what they are merged
/// into [batch, F, m, dv], [batch, F, m].
struct PieceStates {
  mlir::Value states, sums, state, sum;
};

/// Workspaces for the states of a problem's pieces (Pieces.h), without what they are merged into.
PieceStates allocatePieces(BuildSite &site, const Problem &problem, const FeatureMap &map);

/// The kernel that sums them up; with `counters` the point of the last one merges them.
void buildPieces(BuildSite &site, const Problem &problem, const FeatureMap &map, const PieceStates &memories,
                 mlir::Value counters = mlir::Value());

/// Inside a kernel: S₀ (or 0) plus the first `count` pieces, one after another.
llvm::SmallVector<mlir::Value> sumOfPieces(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem,
                                           const FeatureMap &map, const PieceStates &memories, mlir::Value batch,
                                           mlir::Value head, mlir::Value count);

/// All of them, into what they are merged into.
void mergePieces(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                 const PieceStates &memories, mlir::Value batch, mlir::Value head);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PIECESTATES_H
