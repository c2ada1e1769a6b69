//===- Effatt.cpp - Efficient attention: softmax over features, over keys ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state, merge:  of the logarithms k (LogState.cpp): M_f, z_f, S_f; then S_f / z_f, the mean value of feature f
//   readout:       parallel over (batch, head, query block)
//                    a = 2^(q − max_f);   o = a S / Σ_f a
//
//===----------------------------------------------------------------------===//
#include "LogState.h"
#include "QueryBlocks.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// Tokens in units of log 2, f32.
static Value logarithms(TileBuilder &tiles, Value x) {
  return tiles.times(tiles.cast(x, tiles.builder.getF32Type()), tiles.constant(tiles.shape(x), M_LOG2E));
}

/// o [Tq, dv] of a block of queries.
static Value outputOf(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const LogStates &states,
                      const Point &point, Value firstQuery) {
  int64_t rows = problem.queryTile();
  SmallVector<int64_t> shape{rows, problem.width()};
  Value c0 = tiles.index(0), shared = tiles.div(point.head, problem.heads() / problem.sharedHeads());
  TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
  Value l = logarithms(tiles, query.load(tiles, firstQuery, rows));                       // [Tq, d]
  Value a = tiles.exp2(tiles.minus(l, tiles.expand(tiles.reduceMax(l, 1), 1, shape)));    // [Tq, d]
  Value s = tiles.load(frame[states.matrix], {point.batch, shared, c0, c0}, {problem.width(), problem.valueWidth()});
  Value numerator = tiles.dot(a, s, tiles.constant({rows, problem.valueWidth()}, 0));     // [Tq, dv]
  auto none = attn::DenominatorAttr::get(tiles.builder.getContext(), 0.0, 0.0);
  return normalize(tiles, none, numerator, tiles.reduceAdd(a, 1));
}

static void buildReadout(BuildSite &site, const Problem &problem, const LogStates &states) {
  buildQueryBlocks(site, problem, "readout", hostValues({&problem.query}, states.matrix),
                   [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
                     return outputOf(tiles, frame, problem, states, point, firstQuery);
                   });
}

void kernel::buildEffatt(BuildSite &site, const Problem &problem) {
  int64_t heads = problem.sharedHeads();
  auto prepare = [&](KernelFrame &frame, const Point &point, Value limit) -> LogStateBuilder::KeyLogarithms {
    auto key = std::make_shared<TokenReader>(frame.tiles, frame, problem, problem.key, point, heads);
    return [=, &problem](TileBuilder &tiles, Value first) {
      return LogFeatures{logarithms(tiles, key->load(tiles, first, problem.keyTile(), limit)), Value()};
    };
  };
  LogStates states = LogStateBuilder(site, problem, heads, problem.width()).build({}, true, prepare);
  buildReadout(site, problem, states);
}
