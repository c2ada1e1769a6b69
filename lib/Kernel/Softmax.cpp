//===- Softmax.cpp - Exact attention by online softmax -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     m = −∞, l = 0, acc = 0
//     for each key tile:  s = scale·log2e · q kᵀ;  m' = max(m, max_j s);  w = exp2(s − m')
//                         l = l·exp2(m − m') + Σ_j w;  acc = acc·exp2(m − m') + w v
//     o = acc / l;   lse = (m + log2 l) · ln 2
//
// Two loops: tiles that every row sees in full need no mask and no guard; the tiles at the diagonal and at the end do.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// One query block of the kernel.
struct SoftmaxBlock {
  const Problem &problem;
  TokenReader key, value;
  Value query;                      // [Tq, d], operand type
  std::optional<double> scoreScale; // multiplies the scores where it could not be folded into the query
  VisibleKeys visible;

  Type operand() const { return problem.schedule.getOperand(); }
};
} // namespace

/// Scores of a key tile in units of log 2: [Tq, Tk].
static Value scores(TileBuilder &tiles, const SoftmaxBlock &block, Value firstKey, bool masked) {
  int64_t queryTile = block.problem.queryTile(), keyTile = block.problem.keyTile();
  Value k = block.key.load(tiles, firstKey, keyTile, masked ? block.visible.limit : Value());
  k = tiles.cast(k, block.operand());                                                        // [Tk, d]
  Value s = tiles.dot(block.query, k, tiles.constant({queryTile, keyTile}, 0), false, true); // [Tq, Tk]
  if (block.scoreScale)
    s = tiles.times(s, tiles.constant({queryTile, keyTile}, *block.scoreScale));
  return masked ? maskKeys(tiles, block.visible, s, firstKey, -INFINITY) : s;
}

/// One step of the online softmax: m[Tq], l[Tq], acc[Tq, dv].
static SmallVector<Value> step(TileBuilder &tiles, const SoftmaxBlock &block, Value firstKey, ValueRange carried,
                               bool masked) {
  const Problem &problem = block.problem;
  int64_t queryTile = problem.queryTile(), keyTile = problem.keyTile();
  Value s = scores(tiles, block, firstKey, masked);                        // [Tq, Tk]
  Value m = tiles.maximum(carried[0], tiles.reduceMax(s, 1));              // [Tq]
  // A row that has seen no key yet has m = −∞; exp2 of −∞ − 0 is 0, of −∞ − −∞ it would be NaN.
  Value shift = masked ? tiles.selectEqual(m, -INFINITY, tiles.constant({queryTile}, 0), m) : m;
  Value alpha = tiles.exp2(tiles.minus(carried[0], shift));                // [Tq]
  Value w = tiles.exp2(tiles.minus(s, tiles.expand(shift, 1, {queryTile, keyTile}))); // [Tq, Tk]
  Value l = tiles.plus(tiles.times(carried[1], alpha), tiles.reduceAdd(w, 1)); // [Tq]
  Value acc = tiles.times(carried[2], tiles.expand(alpha, 1, {queryTile, problem.valueWidth()})); // [Tq, dv]
  Value v = block.value.load(tiles, firstKey, keyTile, masked ? block.visible.limit : Value()); // [Tk, dv]
  acc = tiles.dot(tiles.cast(w, block.operand()), tiles.cast(v, block.operand()), acc);
  return {m, l, acc};
}

/// The scale goes into the query if that is exact enough (f32 operands), else onto the scores.
static void scaleQuery(TileBuilder &tiles, SoftmaxBlock &block, Value q, double scale) {
  if (block.operand().isF32())
    block.query = tiles.times(tiles.cast(q, block.operand()), tiles.constant(tiles.shape(q), scale * M_LOG2E));
  else
    block.query = tiles.cast(q, block.operand()), block.scoreScale = scale * M_LOG2E;
}

static void storeLse(TileBuilder &tiles, const Problem &problem, Value memory, const Point &point, Value firstQuery,
                     Value m, Value l) {
  int64_t rows = problem.queryTile();
  Value lse = tiles.times(tiles.plus(m, tiles.log2(l)), tiles.constant({rows}, M_LN2));
  lse = tiles.selectEqual(l, 0, tiles.constant({rows}, -INFINITY), lse);
  tiles.store(lse, memory, {point.batch, point.head, firstQuery});
}

void kernel::buildSoftmax(BuildSite &site, const Problem &problem, double scale) {
  KernelFrame frame(site, problem, "softmax", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    hostValues(problem, problem.lse));
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile();
  Point point = gridPoint(frame, problem);
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  SoftmaxBlock block{problem, reader(problem.key), reader(problem.value), {}, {}, {}};
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  block.visible = visibleKeys(frame, tiles, problem, point, firstQuery);
  scaleQuery(tiles, block, reader(problem.query).load(tiles, firstQuery, rows), scale);

  SmallVector<Value> carried{tiles.constant({rows}, -INFINITY), tiles.constant({rows}, 0),
                             tiles.constant({rows, problem.valueWidth()}, 0)};
  carried = loopOverKeys(tiles, problem, block.visible, tile::Carry::Softmax, carried,
                         [&](TileBuilder &inside, Value firstKey, ValueRange inner, bool masked) {
                           return step(inside, block, firstKey, inner, masked);
                         });
  auto none = attn::DenominatorAttr::get(site.module.getContext(), 0.0, 0.0);
  storeOutput(tiles, frame, problem, point, firstQuery, normalize(tiles, none, carried[2], carried[1]));
  if (problem.lse)
    storeLse(tiles, problem, frame[problem.lse], point, firstQuery, carried[0], carried[1]);
  frame.finish(site, queryGrid(site, problem));
}
