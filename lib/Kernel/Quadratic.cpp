//===- Quadratic.cpp - Kernel attention with all pair weights -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     a = φ(q);  for each key tile:  w = visible(a φ(k)ᵀ);  num += w v;  den += Σ_j w
//     o = num / guard(den)
//
// The cheapest form for short sequences: no state, no workspace.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct QuadraticBlock {
  const Problem &problem;
  MapAtPoint map;
  TokenReader key, value;
  Features features; // [Tq, m], operand type
  VisibleKeys visible;
};
} // namespace

/// num[Tq, dv], den[Tq] after one key tile.
static SmallVector<Value> step(TileBuilder &tiles, const QuadraticBlock &block, Value firstKey, ValueRange carried,
                               bool masked) {
  const Problem &problem = block.problem;
  Type operand = kernelOperand(problem, tiles);
  Value limit = masked ? block.visible.limit : Value();
  Features b = block.map.features(tiles, block.key, firstKey, problem.keyTile(), Side::Key, limit); // [Tk, m]
  Value none = tiles.constant({problem.queryTile(), problem.keyTile()}, 0);
  Value w = pairWeights(tiles, block.features, b, operand, none);                       // [Tq, Tk]
  if (masked)
    w = maskKeys(tiles, block.visible, w, firstKey, 0);
  Value v = block.value.load(tiles, firstKey, problem.keyTile(), limit);                // [Tk, dv]
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), carried[0]);
  return {numerator, tiles.plus(carried[1], tiles.reduceAdd(w, 1))};
}

/// Are features made of products with a matrix?
static bool isProjected(const FeatureMap &map) {
  return map.map.isFavor() || map.map.getKind() == attn::FeatureKind::FavorRelu;
}

/// o [Tq, dv] of a block of queries.
static Value outputOf(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                      attn::DenominatorAttr guard, const Point &point, Value firstQuery) {
  int64_t rows = problem.queryTile();
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  QuadraticBlock block{problem, MapAtPoint(tiles, frame, problem, map, point, problem.heads()),
                       reader(problem.key), reader(problem.value), {}, {}};
  block.visible = visibleKeys(frame, tiles, problem, point, firstQuery);
  Features a = block.map.features(tiles, reader(problem.query), firstQuery, rows, Side::Query); // [Tq, m]
  block.features = castFeatures(tiles, a, kernelOperand(problem, tiles));

  SmallVector<Value> carried{tiles.constant({rows, problem.valueWidth()}, 0), tiles.constant({rows}, 0)};
  carried = loopOverKeys(tiles, problem, block.visible, tiles.sums(), carried,
                         [&](TileBuilder &inside, Value firstKey, ValueRange inner, bool masked) {
                           return step(inside, block, firstKey, inner, masked);
                         },
                         /*dearSteps=*/isProjected(map));
  return normalize(tiles, guard, carried[0], carried[1]);
}

void kernel::buildQuadratic(BuildSite &site, const Problem &problem, const FeatureMap &map,
                            attn::DenominatorAttr guard) {
  buildQueryBlocks(site, problem, "quadratic", hostValues(problem, {map.parameter, map.shift}),
                   [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
                     return outputOf(tiles, frame, problem, map, guard, point, firstQuery);
                   });
}
