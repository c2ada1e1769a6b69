//===- AttentionWork.h - The work of each kernel family -*- C++ -*-===//
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

/// What becomes kernels together: a mechanism, or an op around it that has kernels of its own.
enum class Family {
  Softmax, Kernel, Polynomial, Polysketch, Effatt, Eva, Agent, // mechanisms
  Project, ProjectOutput, Compress, ProjectSlots, SlotSums     // layers
};

/// One attention in one form, or one layer op. Names of sizes are those of the attn dialect; sizes that a family does
/// not have are not read.
struct AttentionShape {
  Family family = Family::Softmax;
  attn::Form form = attn::Form::Online;
  int64_t batch = 1, heads = 1, sharedHeads = 1;   ///< H, G
  int64_t queries = 1, keys = 1;                   ///< n, N; slots where the sequence has been compressed
  int64_t width = 1, features = 1, valueWidth = 1; ///< d, m, dv
  int64_t elementBytes = 4;                        ///< of a stored element of o; of x and the weights of a layer
  int64_t queryBytes = 4, keyBytes = 4;            ///< of q; of k and v: 4 where a kernel has made them
  bool causal = false;
  bool lse = false, initialState = false, finalState = false;

  int64_t window = 0;     ///< tokens of a block; 0: the whole sequence
  bool fixedKeys = false; ///< the keys are slots: their number does not follow the sequence
  attn::FeatureMapAttr map;
  int64_t featureHeads = 1;    ///< heads of φ(K): H where every query head maps it its own way, else G
  bool keyMaximum = false;     ///< a stabilizer that is a maximum over the keys
  bool runningMaximum = false; ///< a stabilizer that cancels: each feature carries its own maximum
  int64_t rank = 0;            ///< slots k of φ(K) and V (naive low rank) or of a compression; 0: none
  int64_t sharedWeights = 1;   ///< distinct E of a compression
  int64_t degree = 2, sketch = 0, localExact = 0; ///< polynomial and polysketch: p, r, b
  int64_t agents = 0;
  int64_t chunk = 0, local = 0; ///< of eva
  bool excludeLocal = false;
  bool guarded = false; ///< of polysketch: the denominator has a bias or a floor
  int64_t model = 0; ///< D of projections, whose result has `heads` of `width`
  bool queryRope = false, queryNorm = false, keyRope = false, keyNorm = false; ///< done in the loads
  bool queryHalves = false, keyHalves = false; ///< of a rotation: the halves of a row are its pairs
  bool queryFolded = false, keyFolded = false; ///< tokens come as omega x, m wide; queryFolded of a projection: as that
  bool sums = false;                           ///< of an output projection: heads that nothing divides, f32 in place of f16
  bool bias = false;                           ///< of a projection, or of the convolution in the epilogue
  bool tapsInWindow = false;                   ///< of that convolution: neighbours outside the window are 0
  bool grouped = false; ///< chunked: one state for the query heads of a key-value head, which follow one another
  bool fused = false;   ///< state: made and read in one kernel
  bool merged = false;  ///< state: its pieces are merged in the kernel that makes them
  bool split = false;   ///< chunked: parts of the sequence side by side, softmax: pieces of keys; as many as the schedule says
  bool keysMapped = false; ///< a kernel of its own stores the keys' features, in f32, for those who read them
  int64_t taps = 0; ///< of the depthwise convolution in the epilogue: 0, 3 or 9
  int32_t tapColumns = 0, tapBytes = 4; ///< of it: tokens of a row of the image, bytes of an element of what it reads
  int32_t queryModel = 0, keyModel = 0, valueModel = 0; ///< D of tokens that are projected in the load; 0: they are in memory
  int32_t together = 0; ///< parts of a mixture with one number, from 1 on, run in common launches; their work is the same

  int32_t outputModel = 0; ///< D of the output projection where the kernel of the output computes it; 0: o is stored

  auto key() const {
    return std::make_tuple(static_cast<int>(family), static_cast<int>(form), batch, heads, sharedHeads, queries, keys,
                           width, features, valueWidth, elementBytes, queryBytes, keyBytes, causal, lse, initialState,
                           finalState, window, fixedKeys, map.getAsOpaquePointer(), featureHeads, keyMaximum,
                           runningMaximum, rank, sharedWeights, degree, sketch, localExact, agents, chunk, local,
                           excludeLocal, model, queryRope, queryNorm, keyRope, keyNorm, queryHalves, keyHalves,
                           queryFolded, keyFolded, taps, tapColumns, tapBytes, tapsInWindow, bias, guarded, grouped,
                           fused, merged, keysMapped, queryModel, keyModel, valueModel, outputModel, sums, split);
  }
};

/// The kernels of a form in the order in which they run, as lib/Kernel builds them with that schedule.
llvm::SmallVector<KernelWork, 3> attentionWork(const AttentionShape &shape, tile::ScheduleAttr schedule);

/// The pairs (query block, key tile) of one head that a kernel visits: all of them, or those that the causal mask
/// (query i sees j ≤ i + N − n) leaves. Key lengths are unknown and count as N. Exact up to 2^53.
double visibleTiles(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile);

/// The keys of those tiles that exist, counted for every query block.
double visibleKeys(int64_t queries, int64_t keys, bool causal, int64_t queryTile, int64_t keyTile);

/// The pairs (query, key) of one head that see each other.
double visiblePairs(int64_t queries, int64_t keys, bool causal);

} // namespace attune::cost

#endif // ATTUNE_COST_ATTENTIONWORK_H
