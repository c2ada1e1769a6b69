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
// With the output projection as an epilogue a grid point has the block's heads one after another (QueryBlocks.h).
//
// Two loops: tiles that every row sees in full need no mask and no guard; the tiles at the diagonal and at the end do.
//
//===----------------------------------------------------------------------===//
#include "OnlineSoftmax.h"
#include "QueryBlocks.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// One query block of the kernel.
struct SoftmaxBlock {
  const Problem &problem;
  TokenReader key, value;
  OnlineSoftmax softmax;
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

/// o [Tq, dv] of a block of queries.
static Value outputOf(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                      Value firstQuery, double scale) {
  int64_t rows = problem.queryTile();
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  OnlineSoftmax softmax{rows, problem.valueWidth(), problem.schedule.getOperand()};
  SoftmaxBlock block{problem, reader(problem.key), reader(problem.value), softmax, {}, {}, {}};
  block.visible = visibleKeys(frame, tiles, problem, point, firstQuery);
  scaleQuery(tiles, block, reader(problem.query).load(tiles, firstQuery, rows), scale);

  SmallVector<Value> carried =
      loopOverKeys(tiles, problem, block.visible, tiles.rescaledSums(), softmax.start(tiles),
                   [&](TileBuilder &inside, Value firstKey, ValueRange inner, bool masked) {
                     Value s = scores(inside, block, firstKey, masked); // [Tq, Tk]
                     Value v = block.value.load(inside, firstKey, problem.keyTile(),
                                                masked ? block.visible.limit : Value()); // [Tk, dv]
                     return softmax.step(inside, inner, s, v, masked);
                   });
  if (problem.lse)
    storeLse(tiles, problem, frame[problem.lse], point, firstQuery, carried[0], carried[1]);
  return softmax.finish(tiles, carried);
}

void kernel::buildSoftmax(BuildSite &site, const Problem &problem, double scale) {
  buildQueryBlocks(site, problem, "softmax", hostValues(problem, problem.lse),
                   [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
                     return outputOf(tiles, frame, problem, point, firstQuery, scale);
                   });
}
