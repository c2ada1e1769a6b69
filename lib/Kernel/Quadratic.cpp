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
  attn::FeatureMapAttr map;
  Value key, value, batch, sharedHead, features; // features: [Tq, m], operand type
  VisibleKeys visible;
};
} // namespace

/// num[Tq, dv], den[Tq] after one key tile.
static SmallVector<Value> step(TileBuilder &tiles, const QuadraticBlock &block, Value firstKey, ValueRange carried,
                               bool masked) {
  const Problem &problem = block.problem;
  Type operand = kernelOperand(problem, tiles);
  Value limit = masked ? block.visible.limit : Value();
  Value k = tiles.load(block.key, {block.batch, block.sharedHead, firstKey, tiles.index(0)},
                       {problem.keyTile(), problem.width}, limit);
  Value b = tiles.cast(featureMap(tiles, block.map, k), operand);                       // [Tk, m]
  Value w = tiles.dot(block.features, b, tiles.constant({problem.queryTile(), problem.keyTile()}, 0), false, true);
  if (masked) {
    Value diagonal = block.visible.diagonal ? tiles.sub(block.visible.diagonal, firstKey) : Value();
    w = tiles.mask(w, 0, Value(), tiles.sub(block.visible.limit, firstKey), diagonal);  // [Tq, Tk]
  }
  Value v = tiles.load(block.value, {block.batch, block.sharedHead, firstKey, tiles.index(0)},
                       {problem.keyTile(), problem.valueWidth}, limit);                 // [Tk, dv]
  Value numerator = tiles.dot(tiles.cast(w, operand), tiles.cast(v, operand), carried[0]);
  return {numerator, tiles.plus(carried[1], tiles.reduceAdd(w, 1))};
}

void kernel::buildQuadratic(BuildSite &site, const Problem &problem, attn::FeatureMapAttr map,
                            attn::DenominatorAttr guard) {
  KernelFrame frame(site, problem, "quadratic", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    {problem.query, problem.key, problem.value, problem.lengths, problem.output});
  TileBuilder &tiles = frame.tiles;
  int64_t rows = problem.queryTile();
  QuadraticBlock block{problem, map, frame[problem.key], frame[problem.value], {}, {}, {}, {}};
  block.batch = tiles.programId(tile::Axis::Batch);
  Value head = tiles.programId(tile::Axis::Head);
  block.sharedHead = tiles.div(head, problem.group());
  Value firstQuery = tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows);
  block.visible = visibleKeys(tiles, problem, frame[problem.query], block.key, frame[problem.lengths], block.batch,
                              firstQuery);
  Value q = tiles.load(frame[problem.query], {block.batch, head, firstQuery, tiles.index(0)}, {rows, problem.width});
  block.features = tiles.cast(featureMap(tiles, map, q), kernelOperand(problem, tiles)); // [Tq, m]

  SmallVector<Value> carried{tiles.constant({rows, problem.valueWidth}, 0), tiles.constant({rows}, 0)};
  // Tiles that every row sees in full, then the tiles at the diagonal and at the end.
  for (bool masked : {false, true}) {
    Value lower = masked ? block.visible.full : tiles.index(0), upper = masked ? block.visible.last : block.visible.full;
    carried = loop(tiles, tile::Carry::Sum, lower, upper, problem.keyTile(), carried,
                   [&](TileBuilder &inside, Value firstKey, ValueRange inner) {
                     return step(inside, block, firstKey, inner, masked);
                   });
  }
  tiles.store(normalize(tiles, guard, carried[0], carried[1]), frame[problem.output],
              {block.batch, head, firstQuery, tiles.index(0)});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query, 0), host.index(problem.heads),
                      host.ceilDiv(host.dim(problem.query, 2), rows)});
}
