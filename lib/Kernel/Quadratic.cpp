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
#include "KernelFrame.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct QuadraticBlock {
  const Problem &problem;
  const FeatureMap &map;
  TokenReader key, value;
  Value features; // [Tq, m], operand type
  VisibleKeys visible;
};
} // namespace

/// num[Tq, dv], den[Tq] after one key tile.
static SmallVector<Value> step(TileBuilder &tiles, const QuadraticBlock &block, Value firstKey, ValueRange carried,
                               bool masked) {
  const Problem &problem = block.problem;
  Type operand = kernelOperand(problem, tiles);
  Value limit = masked ? block.visible.limit : Value();
  Value k = block.key.load(tiles, firstKey, problem.keyTile(), limit);                  // [Tk, d]
  Value b = tiles.cast(featureMap(tiles, block.map, k), operand);                       // [Tk, m]
  Value w = tiles.dot(block.features, b, tiles.constant({problem.queryTile(), problem.keyTile()}, 0), false, true);
  if (masked)
    w = maskKeys(tiles, block.visible, w, firstKey, 0);                                 // [Tq, Tk]
  Value v = block.value.load(tiles, firstKey, problem.keyTile(), limit);                // [Tk, dv]
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), carried[0]);
  return {numerator, tiles.plus(carried[1], tiles.reduceAdd(w, 1))};
}

void kernel::buildQuadratic(BuildSite &site, const Problem &problem, const FeatureMap &map,
                            attn::DenominatorAttr guard) {
  KernelFrame frame(site, problem, "quadratic", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    hostValues(problem));
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile();
  Point point = gridPoint(frame, problem);
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  QuadraticBlock block{problem, map, reader(problem.key), reader(problem.value), {}, {}};
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  block.visible = visibleKeys(frame, tiles, problem, point, firstQuery);
  Value q = reader(problem.query).load(tiles, firstQuery, rows);
  block.features = tiles.cast(featureMap(tiles, map, q), kernelOperand(problem, tiles)); // [Tq, m]

  SmallVector<Value> carried{tiles.constant({rows, problem.valueWidth()}, 0), tiles.constant({rows}, 0)};
  carried = loopOverKeys(tiles, problem, block.visible, tile::Carry::Sum, carried,
                         [&](TileBuilder &inside, Value firstKey, ValueRange inner, bool masked) {
                           return step(inside, block, firstKey, inner, masked);
                         });
  storeOutput(tiles, frame, problem, point, firstQuery, normalize(tiles, guard, carried[0], carried[1]));
  frame.finish(site, queryGrid(site, problem));
}
