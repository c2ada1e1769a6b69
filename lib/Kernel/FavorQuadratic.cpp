//===- FavorQuadratic.cpp - Exponents of features, all pair weights ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     for each key tile that all rows see:
//       R_f = max_j L(k)_jf;   t = L(q) + R;   M' = max(M, max_f t)
//       w = g(q) 2^(t − M') · (g(k) 2^(L(k) − R))ᵀ;   num, den rescaled by 2^(M − M'), plus w v, w 1
//     causal: the tile at the diagonal (LogPairs.h);   o = num / guard(den)
//
// Rows carry what they carry in online softmax: the maximum of exponents, den, num.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "LogPairs.h"
#include "LogState.h"
#include "QueryBlocks.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
struct FavorBlock {
  const Problem &problem;
  MapAtPoint map;
  TokenReader key, value;
  Value limit;
  LogFeatures queries; // [Tq, m]
  int64_t bands;
};
} // namespace

/// Features [T, m] of a tile of keys, L being −∞ of those that do not exist.
static LogFeatures keyFeatures(TileBuilder &tiles, const FavorBlock &block, Value first) {
  LogFeatures keys = block.map.logarithms(tiles, block.key, first, block.problem.queryTile(), Side::Key, block.limit);
  keys.exponents = tiles.mask(keys.exponents, -std::numeric_limits<double>::infinity(), tiles.sub(block.limit, first),
                              Value(), Value());
  return keys;
}

/// The maximum of each feature, at least `noLogarithm`: [m].
static Value featureMaxima(TileBuilder &tiles, Value logarithms) {
  Value maximum = tiles.reduceMax(logarithms, 0);
  return tiles.maximum(maximum, tiles.constant(tiles.shape(maximum), noLogarithm));
}

/// M, den, num after weights w [Tq, Tk] relative to `scale`, which is at least M.
static SmallVector<Value> addWeights(TileBuilder &tiles, ValueRange carried, Value scale, Value w, Value v) {
  Value factor = tiles.exp2(tiles.minus(carried[0], scale));                                            // [Tq]
  Value denominator = tiles.plus(tiles.times(carried[1], factor), tiles.reduceAdd(w, 1));
  Value numerator = tiles.times(carried[2], tiles.expand(factor, 1, tiles.shape(carried[2])));
  return {scale, denominator, tiles.dot(w, tiles.cast(v, tiles.builder.getF32Type()), numerator)};
}

static SmallVector<Value> seenStep(TileBuilder &tiles, const FavorBlock &block, Value first, ValueRange carried) {
  int64_t rows = block.problem.queryTile();
  SmallVector<int64_t> shape(tiles.shape(block.queries.exponents));
  LogFeatures keys = keyFeatures(tiles, block, first);                                                  // [Tk, m]
  Value reference = featureMaxima(tiles, keys.exponents), top = tiles.expand(reference, 0, shape);      // [m]
  Value t = tiles.plus(block.queries.exponents, top);                                                   // [Tq, m]
  Value scale = tiles.maximum(carried[0], tiles.reduceMax(t, 1));                                       // [Tq]
  Value a = block.queries.at(tiles, tiles.minus(t, tiles.expand(scale, 1, shape)));                     // [Tq, m]
  Value b = keys.at(tiles, tiles.minus(keys.exponents, top));                                           // [Tk, m]
  Value w = tiles.dot(a, b, tiles.constant({rows, rows}, 0), false, true);                              // [Tq, Tk]
  return addWeights(tiles, carried, scale, w, block.value.load(tiles, first, rows, block.limit));
}

static SmallVector<Value> diagonalStep(TileBuilder &tiles, const FavorBlock &block, Value first, ValueRange carried) {
  LogFeatures keys = keyFeatures(tiles, block, first);
  LogPairs pairs = logPairs(tiles, block.queries, keys, featureMaxima(tiles, keys.exponents), carried[0], block.bands);
  Value v = block.value.load(tiles, first, block.problem.queryTile(), block.limit);
  return addWeights(tiles, carried, pairs.scale, pairs.weights, v);
}

/// o [Tq, dv] of a block of queries.
static Value outputOf(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const FeatureMap &map,
                      attn::DenominatorAttr guard, const Point &point, Value firstQuery) {
  int64_t rows = problem.queryTile();
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  FavorBlock block{problem, MapAtPoint(tiles, frame, problem, map, point), reader(problem.key), reader(problem.value),
                   keyLimit(frame, tiles, problem, point), {}, attn::bandCount(map.map, map.width)};
  block.queries = block.map.logarithms(tiles, reader(problem.query), firstQuery, rows, Side::Query);

  SmallVector<Value> carried{tiles.constant({rows}, leastExponent(guard)), tiles.constant({rows}, 0),
                             tiles.constant({rows, problem.valueWidth()}, 0)};
  // Causal kernel attention has n = N, and key tiles are as long as the query tile: one of them is at the diagonal.
  Value seen = problem.causal ? tiles.min(firstQuery, block.limit) : block.limit;
  carried = loop(tiles, tiles.rescaledSums(), tiles.index(0), seen, rows, carried,
                 [&](TileBuilder &inner, Value first, ValueRange before) { return seenStep(inner, block, first, before); });
  if (problem.causal)
    carried = loop(tiles, tiles.rescaledSums(), firstQuery,
                   tiles.min(tiles.add(firstQuery, tiles.index(1)), block.limit), rows, carried,
                   [&](TileBuilder &inner, Value first, ValueRange before) {
                     return diagonalStep(inner, block, first, before);
                   });
  return normalizeInUnit(tiles, guard, carried[2], carried[1], carried[0]);
}

void kernel::buildFavorQuadratic(BuildSite &site, const Problem &problem, const FeatureMap &map,
                                 attn::DenominatorAttr guard) {
  buildQueryBlocks(site, problem, "quadratic", hostValues(problem, map.parameter),
                   [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
                     return outputOf(tiles, frame, problem, map, guard, point, firstQuery);
                   });
}
