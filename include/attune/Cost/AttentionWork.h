//===- AttentionWork.h - The work of each form of attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_ATTENTIONWORK_H
#define ATTUNE_COST_ATTENTIONWORK_H

#include "attune/Attn/Attn.h"
#include "attune/Cost/WorkEstimate.h"
#include "attune/Tile/Tile.h"

namespace attune::cost {

/// One attention in one form. Names of sizes are those of the attn dialect.
struct AttentionShape {
  attn::Form form = attn::Form::Online;
  int64_t batch = 1, heads = 1, sharedHeads = 1;   ///< H, G
  int64_t queries = 1, keys = 1;                   ///< n, N
  int64_t width = 1, features = 1, valueWidth = 1; ///< d, m (unused by softmax), dv
  int64_t elementBytes = 4;                        ///< of a stored element of q, k, v, o
  bool causal = false;
  bool lse = false, initialState = false, finalState = false;

  auto key() const {
    return std::make_tuple(static_cast<int>(form), batch, heads, sharedHeads, queries, keys, width, features,
                           valueWidth, elementBytes, causal, lse, initialState, finalState);
  }
};

/// The kernels of a form in the order in which they run, as lib/Kernel builds them with that schedule.
llvm::SmallVector<KernelWork, 3> attentionWork(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// The pairs (query block, key tile) of one head that a kernel visits: all of them, or those that the causal mask
/// (query i sees j ≤ i + N − n) leaves. Key lengths are unknown and count as N. Exact up to 2^53.
double visibleTiles(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile);

/// The pairs (query, key) of one head that see each other.
double visiblePairs(int64_t queries, int64_t keys, bool causal);

} // namespace attune::cost

#endif // ATTUNE_COST_ATTENTIONWORK_H
