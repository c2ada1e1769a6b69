//===- FavorState.cpp - Exponents of features: state and readout -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state, merge:  see LogState.cpp
//   readout:       parallel over (batch, head, query block)
//                    c = max_f L(q) + M;   a = g(q) 2^(L(q) + M − c);   o = a S / guard(a z)
//
// Some feature has a = g, and its z counts its largest key as g: the denominator is about 1 at least.
//
//===----------------------------------------------------------------------===//
#include "FavorPieces.h"
#include "FeatureMaps.h"
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// o [Tq, dv] of queries g 2^L, their logarithms [Tq, m].
static Value outputOf(TileBuilder &tiles, const Problem &problem, attn::DenominatorAttr guard, const LogFeatures &q,
                      ValueRange state) {
  Type operand = stateOperand(problem, tiles);
  SmallVector<int64_t> shape(tiles.shape(q.exponents)), rows{shape[0]};
  Value t = tiles.plus(q.exponents, tiles.expand(state[0], 0, shape));                      // [Tq, m]
  Value c = tiles.reduceMax(t, 1);                                                          // [Tq]
  if (guarded(guard))
    c = tiles.maximum(c, tiles.constant(rows, leastExponent(guard)));
  Value a = q.at(tiles, tiles.minus(t, tiles.expand(c, 1, shape)));                         // [Tq, m]
  Value none = tiles.constant({shape[0], tiles.shape(state[2])[1]}, 0);
  Value numerator = tiles.dot(tiles.cast(a, operand), tiles.cast(state[2], operand), none); // [Tq, dv]
  Value denominator = tiles.reduceAdd(tiles.times(a, tiles.expand(state[1], 0, shape)), 1); // [Tq]
  return normalizeInUnit(tiles, guard, numerator, denominator, c);
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, const LogStates &states,
                         attn::DenominatorAttr guard) {
  SmallVector<Value> values = hostValues({&problem.query}, map.parameter);
  llvm::append_range(values, states.memories());
  auto read = [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
    Value shared = tiles.div(point.head, problem.heads() / parameterHeads(problem, map));
    TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
    MapAtPoint mapped(tiles, frame, problem, map, point);
    SmallVector<Value> state = loadLogState(tiles, frame, states, {point.batch, shared}); // [m], [m], [m, dv]
    LogFeatures q = mapped.logarithms(tiles, query, firstQuery, problem.queryTile(), Side::Query); // [Tq, m]
    return outputOf(tiles, problem, guard, q, state);
  };
  buildQueryBlocks(site, problem, "readout", values, read);
}

/// What makes the logarithms of the keys at a point; `mapped` is the map of the kernel that was begun last.
static auto keysOf(const Problem &problem, const FeatureMap &map, std::shared_ptr<MapAtPoint> &mapped) {
  return [&](KernelFrame &frame, const Point &point, Value limit) -> LogStateBuilder::KeyLogarithms {
    mapped = std::make_shared<MapAtPoint>(frame.tiles, frame, problem, map, point);
    auto key = std::make_shared<TokenReader>(frame.tiles, frame, problem, problem.key, point, parameterHeads(problem, map));
    return [=, &problem, mapped = mapped](TileBuilder &tiles, Value first) {
      return mapped->logarithms(tiles, *key, first, problem.keyTile(), Side::Key, limit);
    };
  };
}

LogStates kernel::buildFavorPieces(BuildSite &site, const Problem &problem, const FeatureMap &map) {
  std::shared_ptr<MapAtPoint> mapped;
  LogStateBuilder builder(site, problem, parameterHeads(problem, map), map.features);
  return builder.buildPieces(map.parameter, keysOf(problem, map, mapped));
}

void kernel::buildFavorState(BuildSite &site, const Problem &problem, const FeatureMap &map,
                             attn::DenominatorAttr guard) {
  std::shared_ptr<MapAtPoint> mapped;
  auto prepare = keysOf(problem, map, mapped);
  LogStateBuilder builder(site, problem, parameterHeads(problem, map), map.features);
  if (!problem.fused)
    return buildReadout(site, problem, map, builder.build(map.parameter, false, prepare), guard);
  auto read = [&](TileBuilder &tiles, const TokenReader &query, Value first, ValueRange state) {
    return outputOf(tiles, problem, guard, mapped->logarithms(tiles, query, first, problem.queryTile(), Side::Query), state);
  };
  builder.buildFused(map.parameter, false, prepare, read);
}
