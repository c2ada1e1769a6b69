//===- AttentionShape.h - What a schedule is chosen by -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_ATTENTIONSHAPE_H
#define ATTUNE_COST_ATTENTIONSHAPE_H

#include "attune/Attn/Attn.h"

namespace attune::cost {

/// What becomes kernels together: a mechanism, or an op around it that has kernels of its own.
enum class Family {
  Softmax, Kernel, Polynomial, Polysketch, Effatt, Eva, Agent, // mechanisms
  Project, ProjectOutput, Compress, ProjectSlots, SlotSums     // layers
};

/// One attention in one form, or one layer op, of which only the family is told. Names of sizes are those of the attn dialect.
struct AttentionShape {
  Family family = Family::Softmax;
  attn::Form form = attn::Form::Online;
  int64_t batch = 1, heads = 1, sharedHeads = 1;   ///< H, G
  int64_t queries = 1, keys = 1;                   ///< n, N; slots where the sequence has been compressed
  int64_t width = 1, features = 1, valueWidth = 1; ///< d, m, dv
  int64_t sketch = 0, degree = 2;                  ///< of polysketch: r, p
  int64_t window = 0;                              ///< tokens of a block; 0: the whole sequence
  bool causal = false;
  attn::FeatureMapAttr map;
  bool runningMaximum = false; ///< a stabilizer that cancels: each feature carries its own maximum
  bool queryRope = false, keyRope = false, keyNorm = false; ///< done in the loads
  bool keyFolded = false;  ///< keys come as omega x, m wide
  bool grouped = false;    ///< chunked: one state for the query heads of a key-value head, which follow one another; softmax: those are rows of one head
  bool fused = false;      ///< state: made and read in one kernel
  bool wholeState = false; ///< others read the state, too, or its features are compressed or gated: none of it comes in slices
  bool split = false;      ///< chunked: parts of the sequence side by side, softmax: pieces of keys; as many as the schedule says
  bool keysMapped = false; ///< a kernel of its own stores the keys' features, in f32, for those who read them
  bool projectsInLoad = false; ///< some of its tokens are projected as they are read
  bool projectsOutput = false; ///< the kernel of the output computes the output projection; else o is stored
  bool gated = false; ///< tokens decay or erase, each in its own way: kernels have tiles that the sizes above do not say
  int32_t together = 0;        ///< parts of a mixture with one number, from 1 on, run in common launches

  /// Whether it is a mechanism, and not an op around one.
  bool isAttention() const { return family < Family::Project; }
};

} // namespace attune::cost

#endif // ATTUNE_COST_ATTENTIONSHAPE_H
