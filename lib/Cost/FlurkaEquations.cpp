//===- FlurkaEquations.cpp - What FLuRKA counts of a layer -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/FlurkaEquations.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;
using namespace attune::cost;

double cost::flurkaEquation(FlurkaLayer layer, const FlurkaSizes &sizes) {
  double N = sizes.tokens, k = sizes.slots, H = sizes.heads, d = sizes.width, D = sizes.model();
  switch (layer) {
  case FlurkaLayer::LowRank: // (6): E X and F X; Q; K and V of the slots; logits; their exponentials; weights · V
    return 2 * N * k * D + N * D * D + 2 * k * D * D + N * D * k + N * H * k + N * k * D;
  case FlurkaLayer::Kernel: // (7): Q, K and V; both maps; the state and its readout
    return 3 * N * D * D + 2 * N * D + 2 * N * D * d;
  case FlurkaLayer::Fused: // (8): E X and F X; Q; K and V of the slots; both maps; the state; its readout
    return 2 * N * k * D + N * D * D + 2 * k * D * D + N * D + D * k + k * D * d + N * d * D;
  }
  llvm_unreachable("every layer is above");
}

//===----------------------------------------------------------------------===//
// The same from the estimates
//===----------------------------------------------------------------------===//

/// rows [rows, D] · W [D, D].
static AttentionShape projection(const FlurkaSizes &sizes, int64_t rows) {
  AttentionShape shape;
  shape.family = Family::Project;
  shape.heads = shape.sharedHeads = sizes.heads;
  shape.queries = shape.keys = rows;
  shape.width = shape.valueWidth = sizes.width;
  shape.model = sizes.model();
  return shape;
}

/// E [k, N] · X [N, D], before the heads are split.
static AttentionShape compression(const FlurkaSizes &sizes) {
  AttentionShape shape;
  shape.family = Family::Compress;
  shape.queries = shape.keys = sizes.tokens;
  shape.width = shape.valueWidth = sizes.model();
  shape.rank = sizes.slots;
  return shape;
}

/// Attention of all heads from N queries to `keys` keys.
static AttentionShape attention(const FlurkaSizes &sizes, int64_t keys, attn::FeatureMapAttr map) {
  AttentionShape shape;
  shape.family = map ? Family::Kernel : Family::Softmax;
  shape.form = map ? attn::Form::State : attn::Form::Online;
  shape.map = map;
  shape.heads = shape.sharedHeads = shape.featureHeads = sizes.heads;
  shape.queries = sizes.tokens, shape.keys = keys;
  shape.width = shape.features = shape.valueWidth = sizes.width;
  return shape;
}

llvm::SmallVector<AttentionShape, 4> cost::flurkaShapes(FlurkaLayer layer, const FlurkaSizes &sizes,
                                                     attn::FeatureMapAttr map) {
  AttentionShape queries = projection(sizes, sizes.tokens), slots = projection(sizes, sizes.slots);
  if (layer == FlurkaLayer::Kernel)
    return {queries, queries, queries, attention(sizes, sizes.tokens, map)};
  AttentionShape compressed = compression(sizes);
  bool fused = layer == FlurkaLayer::Fused;
  return {compressed, compressed, queries, slots, slots, attention(sizes, sizes.slots, fused ? map : nullptr)};
}

double cost::flurkaCount(llvm::ArrayRef<AttentionShape> shapes, tile::ScheduleAttr schedule) {
  double count = 0;
  for (const AttentionShape &shape : shapes) {
    for (const KernelWork &kernel : attentionWork(shape, schedule))
      count += kernel.work.usefulProducts;
    if (shape.family == Family::Softmax)
      count += double(shape.batch) * shape.heads * visiblePairs(shape.queries, shape.keys, shape.causal);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// The claims
//===----------------------------------------------------------------------===//

bool cost::inPrintedClaim3(const FlurkaSizes &sizes) {
  return sizes.tokens > sizes.slots * (sizes.heads + 2) && sizes.model() > sizes.slots;
}

bool cost::inPrintedClaim1(const FlurkaSizes &sizes) {
  return inPrintedClaim3(sizes) && sizes.slots * (sizes.heads + 2) > sizes.model() && sizes.slots > sizes.width;
}

bool cost::inClaim2(const FlurkaSizes &sizes) { return sizes.tokens > sizes.slots && sizes.slots > sizes.width; }

bool cost::inClaim3(const FlurkaSizes &sizes) {
  bool longEnough = sizes.tokens > sizes.slots * (2 * sizes.heads + 1) && sizes.model() > sizes.slots;
  return longEnough || (inPrintedClaim3(sizes) && 2 * (sizes.model() - sizes.slots) >= sizes.width);
}

bool cost::inClaim1(const FlurkaSizes &sizes) { return inClaim2(sizes) && inClaim3(sizes); }
