//===- CompressedKernel.cpp - Naive FLuRKA: φ(Q) over compressed features ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    parallel over (batch, head)                S [m, dv] = Σ_slots (E φ(K))ᵀ (F V)
//   readout:  parallel over (batch, head, query block)   o = φ(q) S
//
// The compressed features and values are made by Compression.cpp.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// S of one head, a block of features at a time, into `state` [batch, heads, m, dv].
static void buildSlotState(BuildSite &site, const Problem &problem, const FeatureMap &map, const Tokens &features,
                           Value state) {
  KernelFrame frame(site, problem, "state", {tile::Axis::Batch, tile::Axis::Head},
                    hostValues({&features, &problem.value}, state));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  TokenReader slots(tiles, frame, problem, features, point, features.heads);
  TokenReader value(tiles, frame, problem, problem.value, point, features.heads);
  int64_t rows = problem.keyTile();
  Type operand = kernelOperand(problem, tiles);
  auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
    Value b = inner.cast(slots.load(inner, first, rows), operand), v = inner.cast(value.load(inner, first, rows), operand);
    return {inner.dot(b, v, carried[0], /*transposeA=*/true)};                          // [m, dv]
  };
  Value zero = tiles.constant({map.features, problem.valueWidth()}, 0);
  Value count = tiles.dim(frame[features.memory], 2), c0 = tiles.index(0);
  Value sum = loop(tiles, tiles.sums(), c0, count, rows, zero, step)[0];
  tiles.store(sum, frame[state], {point.batch, point.head, c0, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(features.memory, 0), host.index(features.heads)});
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, int64_t heads, Value state) {
  int64_t rows = problem.queryTile();
  auto read = [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
    int64_t feature = 0;
    Value shared = tiles.div(point.head, problem.heads() / heads), c0 = tiles.index(0);
    TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
    MapAtPoint mapped(tiles, frame, problem, map, point);
    Value o = tiles.constant({rows, problem.valueWidth()}, 0);
    for (Value a : mapped.features(tiles, query, firstQuery, rows, Side::Query)) {      // [Tq, columns]
      int64_t columns = tiles.shape(a)[1];
      Value s = tiles.load(frame[state], {point.batch, shared, tiles.index(feature), c0},
                           {columns, problem.valueWidth()});
      o = tiles.dot(a, s, o);                                                           // [Tq, dv]
      feature += columns;
    }
    return o;
  };
  buildQueryBlocks(site, problem, "readout", hostValues({&problem.query}, {map.parameter, state}), read);
}

void kernel::buildCompressedKernel(BuildSite &site, const Problem &problem, const FeatureMap &map,
                                   const Tokens &features) {
  TileBuilder host(site.host, site.loc);
  Value state = site.workspace({ShapedType::kDynamic, features.heads, map.features, problem.valueWidth()},
                               host.dim(features.memory, 0));
  buildSlotState(site, problem, map, features, state);
  buildReadout(site, problem, map, features.heads, state);
}
