//===- AttentionWork.cpp - The work of each form of attention -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a kernel of lib/Kernel, in the order of its source there. T is the rows of a tile (queries: Tq, keys:
// Tk). Elementwise work is counted per tile value that the kernel makes; the constants say which.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;
using namespace attune::cost;

namespace {
/// The sizes as doubles, so that products of them do not overflow.
struct Sizes {
  Sizes(const AttentionShape &shape, tile::ScheduleAttr schedule)
      : batch(shape.batch), heads(shape.heads), shared(shape.sharedHeads), n(shape.queries), N(shape.keys),
        d(shape.width), m(shape.features), dv(shape.valueWidth), s(shape.elementBytes), Tq(schedule.getQueryTile()),
        Tk(schedule.getKeyTile()), blocks(llvm::divideCeil(shape.queries, schedule.getQueryTile())),
        keyTiles(llvm::divideCeil(shape.keys, schedule.getKeyTile())),
        pieces(llvm::divideCeil(shape.keys, schedule.getPiece())) {}

  double batch, heads, shared, n, N, d, m, dv, s, Tq, Tk, blocks, keyTiles, pieces;

  double queryPoints() const { return batch * heads * blocks; }
  double stateBytes() const { return 4 * m * (dv + 1); }
  /// q, k, v and o of the whole batch, each once.
  double tensorBytes() const { return batch * s * (heads * n * (d + dv) + shared * N * (d + dv)); }
};
} // namespace

// x + 1, the comparison and the select of elu(x) + 1; its exponential is counted apart.
static constexpr double mapOps = 3;

static WorkEstimate softmaxWork(const AttentionShape &shape, const Sizes &z, double pairs, double visible) {
  double points = z.batch * z.heads;
  WorkEstimate work;
  work.products = points * pairs * z.Tq * z.Tk * (z.d + z.dv);
  work.usefulProducts = points * visible * (z.d + z.dv);
  work.exps = points * pairs * z.Tq * (z.Tk + 1);
  // Row maximum, subtraction, row sum; the accumulator rescaled; then the query scaled and the output divided.
  work.elementwise = points * (pairs * z.Tq * (3 * z.Tk + z.dv) + z.blocks * z.Tq * (z.d + z.dv));
  work.mainBytes = z.tensorBytes() + (shape.lse ? 4 * points * z.n : 0);
  work.nearBytes = points * z.s * (z.n * (z.d + z.dv) + pairs * z.Tk * (z.d + z.dv));
  work.liveBytes = 4 * (z.Tq * (z.d + z.dv) + z.Tk * (z.d + z.dv) + 2 * z.Tq * z.Tk);
  work.grain = z.queryPoints();
  return work;
}

static WorkEstimate quadraticWork(const Sizes &z, double pairs, double visible) {
  double points = z.batch * z.heads;
  WorkEstimate work;
  work.products = points * pairs * z.Tq * z.Tk * (z.m + z.dv);
  work.usefulProducts = points * visible * (z.m + z.dv);
  // Every query block maps the keys that it visits anew.
  work.exps = points * (pairs * z.Tk + z.blocks * z.Tq) * z.m;
  // The maps, the row sum; then the output divided.
  work.elementwise = points * (pairs * z.Tk * (mapOps * z.m + z.Tq) + z.blocks * z.Tq * (mapOps * z.m + z.dv));
  work.mainBytes = z.tensorBytes();
  work.nearBytes = points * z.s * (z.n * (z.d + z.dv) + pairs * z.Tk * (z.d + z.dv));
  work.liveBytes = 4 * (z.Tq * (z.d + z.m + z.dv) + z.Tk * (z.d + z.m + z.dv) + 2 * z.Tq * z.Tk);
  work.grain = z.queryPoints();
  return work;
}

/// States of the pieces.
static WorkEstimate stateWork(const Sizes &z) {
  double points = z.batch * z.shared, rows = z.keyTiles * z.Tk;
  WorkEstimate work;
  work.products = points * rows * z.m * z.dv;
  work.usefulProducts = points * z.N * z.m * z.dv;
  work.exps = points * rows * z.m;
  work.elementwise = points * rows * z.m * (mapOps + 2); // the map, its mask, the sum over keys
  work.mainBytes = points * (z.s * z.N * (z.d + z.dv) + z.pieces * z.stateBytes());
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * z.Tk * (z.d + z.m + z.dv) + z.stateBytes();
  work.grain = points * z.pieces;
  return work;
}

static WorkEstimate mergeWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.shared;
  WorkEstimate work;
  work.elementwise = points * z.pieces * z.m * (z.dv + 1);
  work.mainBytes = points * (z.pieces + 1 + (shape.initialState ? 1 : 0)) * z.stateBytes();
  work.nearBytes = work.mainBytes;
  work.liveBytes = 2 * z.stateBytes();
  work.grain = points;
  return work;
}

static WorkEstimate readoutWork(const Sizes &z) {
  double points = z.batch * z.heads, rows = z.blocks * z.Tq;
  WorkEstimate work;
  work.products = points * rows * z.m * z.dv;
  work.usefulProducts = points * z.n * z.m * z.dv;
  work.exps = points * rows * z.m;
  work.elementwise = points * rows * (z.m * (mapOps + 2) + z.dv); // the map, ⟨φ(q), z⟩; then the output divided
  work.mainBytes = points * z.s * z.n * (z.d + z.dv) + z.batch * z.shared * z.stateBytes();
  work.nearBytes = points * (z.s * z.n * (z.d + z.dv) + z.blocks * z.stateBytes());
  work.liveBytes = 4 * z.Tq * (z.d + z.m + z.dv) + z.stateBytes();
  work.grain = z.queryPoints();
  return work;
}

/// The loop over chunks runs inside one grid point, so that batch and heads are all the parallelism there is.
static WorkEstimate chunkedWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.heads, T = z.Tk, rows = z.keyTiles * T;
  WorkEstimate work;
  work.products = points * rows * (T * (z.m + z.dv) + 2 * z.m * z.dv);
  // Inside a chunk half of the pairs see each other.
  work.usefulProducts = points * z.n * ((T + 1) / 2 * (z.m + z.dv) + 2 * z.m * z.dv);
  work.exps = points * 2 * rows * z.m;
  // Two maps; mask of the keys, ⟨φ(q), z⟩ (2), sum over keys; mask and row sum of the weights; two sums added,
  // division.
  work.elementwise = points * rows * (z.m * (2 * mapOps + 4) + 2 * T + 2 * z.dv);
  work.mainBytes = z.tensorBytes() + (shape.initialState ? z.batch * z.shared * z.stateBytes() : 0);
  work.nearBytes = points * z.s * z.n * 2 * (z.d + z.dv);
  work.liveBytes = 4 * (T * (2 * z.d + 2 * z.m + 3 * z.dv) + 2 * T * T) + z.stateBytes();
  work.grain = points;
  return work;
}

llvm::SmallVector<KernelWork, 3> cost::attentionWork(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  Sizes sizes(shape, schedule);
  auto pairs = [&] {
    return visibleTiles(shape.queries, shape.keys, shape.causal, schedule.getQueryTile(), schedule.getKeyTile());
  };
  auto visible = [&] { return visiblePairs(shape.queries, shape.keys, shape.causal); };
  switch (shape.form) {
  case attn::Form::Online:
    return {{"softmax", softmaxWork(shape, sizes, pairs(), visible())}};
  case attn::Form::Quadratic:
    return {{"quadratic", quadraticWork(sizes, pairs(), visible())}};
  case attn::Form::State:
    return {{"state", stateWork(sizes)}, {"merge", mergeWork(shape, sizes)}, {"readout", readoutWork(sizes)}};
  case attn::Form::Chunked:
    if (shape.finalState)
      return {{"chunked", chunkedWork(shape, sizes)}, {"state", stateWork(sizes)}, {"merge", mergeWork(shape, sizes)}};
    return {{"chunked", chunkedWork(shape, sizes)}};
  }
  return {};
}
