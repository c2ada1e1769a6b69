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
  Value key, value, batch, sharedHead, query; // query: [Tq, d], operand type
  std::optional<double> scoreScale;           // multiplies the scores where it could not be folded into the query
  VisibleKeys visible;

  Type operand() const { return problem.schedule.getOperand(); }
};
} // namespace

/// Scores of a key tile in units of log 2: [Tq, Tk].
static Value scores(TileBuilder &tiles, const SoftmaxBlock &block, Value firstKey, bool masked) {
  const Problem &problem = block.problem;
  int64_t queryTile = problem.queryTile(), keyTile = problem.keyTile();
  Value k = tiles.load(block.key, {block.batch, block.sharedHead, firstKey, tiles.index(0)},
                       {keyTile, problem.width}, masked ? block.visible.limit : Value());
  k = tiles.cast(k, block.operand());                                                // [Tk, d]
  Value s = tiles.dot(block.query, k, tiles.constant({queryTile, keyTile}, 0), false, true); // [Tq, Tk]
  if (block.scoreScale)
    s = tiles.times(s, tiles.constant({queryTile, keyTile}, *block.scoreScale));
  if (!masked)
    return s;
  Value left = tiles.sub(block.visible.limit, firstKey);
  Value diagonal = block.visible.diagonal ? tiles.sub(block.visible.diagonal, firstKey) : Value();
  return tiles.mask(s, -INFINITY, Value(), left, diagonal);
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
  Value acc = tiles.times(carried[2], tiles.expand(alpha, 1, {queryTile, problem.valueWidth})); // [Tq, dv]
  Value v = tiles.load(block.value, {block.batch, block.sharedHead, firstKey, tiles.index(0)},
                       {keyTile, problem.valueWidth}, masked ? block.visible.limit : Value()); // [Tk, dv]
  acc = tiles.dot(tiles.cast(w, block.operand()), tiles.cast(v, block.operand()), acc);
  return {m, l, acc};
}

/// The scale goes into the query if that is exact enough (f32 operands), else onto the scores.
static void loadQuery(TileBuilder &tiles, SoftmaxBlock &block, Value memory, Value head, Value firstQuery,
                      double scale) {
  const Problem &problem = block.problem;
  SmallVector<int64_t> shape{problem.queryTile(), problem.width};
  Value q = tiles.load(memory, {block.batch, head, firstQuery, tiles.index(0)}, shape); // [Tq, d]
  if (block.operand().isF32())
    block.query = tiles.times(tiles.cast(q, block.operand()), tiles.constant(shape, scale * M_LOG2E));
  else
    block.query = q, block.scoreScale = scale * M_LOG2E;
}

void kernel::buildSoftmax(BuildSite &site, const Problem &problem, double scale) {
  KernelFrame frame(site, problem, "softmax", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {problem.query, problem.key, problem.value, problem.lengths, problem.output, problem.lse});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile();
  SoftmaxBlock block{problem, frame[problem.key], frame[problem.value], {}, {}, {}, {}, {}};
  block.batch = tiles.programId(tile::Axis::Batch);
  Value head = tiles.programId(tile::Axis::Head);
  block.sharedHead = tiles.div(head, problem.group());
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  block.visible = visibleKeys(tiles, problem, frame[problem.query], block.key, frame[problem.lengths], block.batch,
                              firstQuery);
  loadQuery(tiles, block, frame[problem.query], head, firstQuery, scale);

  SmallVector<Value> carried{tiles.constant({rows}, -INFINITY), tiles.constant({rows}, 0),
                             tiles.constant({rows, problem.valueWidth}, 0)};
  // Tiles that every row sees in full, then the tiles at the diagonal and at the end.
  for (bool masked : {false, true}) {
    Value lower = masked ? block.visible.full : tiles.index(0), upper = masked ? block.visible.last : block.visible.full;
    carried = loop(tiles, tile::Carry::Softmax, lower, upper, problem.keyTile(), carried,
                   [&](TileBuilder &inside, Value firstKey, ValueRange inner) {
                     return step(inside, block, firstKey, inner, masked);
                   });
  }

  auto none = attn::DenominatorAttr::get(site.module.getContext(), 0.0, 0.0);
  tiles.store(normalize(tiles, none, carried[2], carried[1]), frame[problem.output],
              {block.batch, head, firstQuery, tiles.index(0)});
  if (problem.lse) {
    Value lse = tiles.times(tiles.plus(carried[0], tiles.log2(carried[1])), tiles.constant({rows}, M_LN2));
    lse = tiles.selectEqual(carried[1], 0, tiles.constant({rows}, -INFINITY), lse);
    tiles.store(lse, frame[problem.lse], {block.batch, head, firstQuery});
  }
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query, 0), host.index(problem.heads),
                      host.ceilDiv(host.dim(problem.query, 2), rows)});
}
