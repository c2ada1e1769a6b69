//===- WorkSizes.h - Sizes and costs that the estimates share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_WORKSIZES_H
#define ATTUNE_LIB_COST_WORKSIZES_H

#include "attune/Cost/AttentionWork.h"

namespace attune::cost {

/// The sizes as doubles, so that products of them do not overflow. With a window n, N and the tiles are those of one
/// block, and `windows` counts the blocks.
struct Sizes {
  Sizes(const AttentionShape &shape, tile::ScheduleAttr schedule);

  double batch, heads, shared, features, windows, n, N, d, m, dv;
  double qw, kw;  ///< width of a query and of a key as they are read: d, or m where omega has been folded in; of features
                  ///< that were written in f32 the number of elements as large as a value's that make as many bytes
  double keyHeads; ///< heads of them: those of the features where they were written
  double o, q, k; ///< bytes of an element of the output, of the queries, of keys and values
  double Tq, Tk, blocks, keyTiles, pieces;
  double pairs;   ///< pairs (query tile, key tile) that one head visits
  double keysRead; ///< keys of them that exist, for every query tile
  double visible; ///< pairs (query, key) of one head that see each other

  tile::ScheduleAttr schedule;

  double points() const { return batch * heads * windows; }
  double rows() const { return blocks * Tq; }
  double keyRows() const { return keyTiles * Tk; }
  /// How often a GPU moves an element of a result that is the first operand of the next product: not at all with one column
  /// of warps; else to shared memory, and from there to every column.
  double operandMoves() const { return schedule.getWarpColumns() > 1 ? 1 + schedule.getWarpColumns() : 0; }
  double stateBytes() const { return 4 * m * (dv + 1); }
  /// q, k, v and o of the whole batch, each once.
  double tensorBytes() const;
  /// q and o of all points once, keys and values once a visited tile.
  double visitedBytes() const;
};

/// A causal sequence whose parts run side by side (lib/Kernel/Pieces.h): `keys` of them lie before the last part and are summed
/// up in `pieces`; together the parts begin at so many `merges` of a piece's state.
struct SplitSizes {
  SplitSizes(const Sizes &z, double chunk);
  double parts, pieces, keys, merges;
};

/// What one token costs on its way through a feature map.
struct MapCost {
  double products = 0, elementwise = 0, exps = 0;
};
MapCost mapCost(attn::FeatureMapAttr map, double width, double features);

/// Elementwise work on a token of q, or of k, in the load: RoPE and the normalisation.
double queryOps(const AttentionShape &shape);
double keyOps(const AttentionShape &shape);
/// The latter where the keys are attention's tokens, and not features that a kernel has made of them.
double readKeyOps(const AttentionShape &shape);

/// Elementwise work on a row of the output before it is stored: the depthwise convolution.
double outputOps(const AttentionShape &shape);

/// Exact attention of the agents over the keys, then of the queries over the agents.
llvm::SmallVector<AttentionShape, 2> agentParts(const AttentionShape &shape);

/// Whether EVA's blocks leave out parts of chunks, which then have summaries of their own.
bool hasEdges(const AttentionShape &shape);

/// Σ_{0 ≤ i < count} ⌊(slope·i + offset) / divisor⌋ for slope, offset ≥ 0.
double floorSum(int64_t count, int64_t divisor, int64_t slope, int64_t offset);

/// Multiplications that raise a weight to an even power.
double powerOps(int64_t degree);

using KernelWorks = llvm::SmallVector<KernelWork, 3>;

/// The kernels of the families; one file each. The counts cite sections of the mathematics: "§4" is `Kernel (linear)
/// attention, general` of the reference text.
KernelWorks softmaxWork(const AttentionShape &shape, const Sizes &z);
KernelWorks polynomialWork(const AttentionShape &shape, const Sizes &z);
KernelWorks polysketchWork(const AttentionShape &shape, const Sizes &z);
KernelWorks kernelAttentionWork(const AttentionShape &shape, const Sizes &z);
KernelWorks effattWork(const AttentionShape &shape, const Sizes &z);
KernelWorks agentWork(const AttentionShape &shape, const Sizes &z);
KernelWorks evaWork(const AttentionShape &shape, const Sizes &z);
KernelWorks layerWork(const AttentionShape &shape, const Sizes &z);
KernelWorks slotWork(const AttentionShape &shape, const Sizes &z);

/// Numbers that are stored of a key's features: two each where they are powers with exponents of their own.
double writtenWidth(const AttentionShape &shape);

/// What a key costs on its way through the map where its features are written, and where they are read.
struct SplitMap {
  MapCost written, read;
};
SplitMap splitMap(const AttentionShape &shape, const MapCost &key, double features);

/// The features of the keys, stored for those who read them. `map`: what a key costs there.
WorkEstimate featuresWork(const AttentionShape &shape, const Sizes &z, const MapCost &map);

/// Takes from the work of chunks, counted for every query head, what the heads of a group share.
void shareGroups(WorkEstimate &work, const AttentionShape &shape, const Sizes &z, const MapCost &key);

/// A counter of grid points.
inline constexpr double counterBytes = 8;

/// States of pieces added up: [batch, heads, pieces, rows, columns] → [batch, heads, rows, columns].
WorkEstimate mergeWork(double points, double pieces, double elements, double initial = 0);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_WORKSIZES_H
