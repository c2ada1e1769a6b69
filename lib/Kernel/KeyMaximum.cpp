//===- KeyMaximum.cpp - FAVOR's stabilizer over all keys ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head)
//     for each key tile:  M_j = max(M_j, max_f L_jf) of the tile's j-th key        ⟨ω, x'⟩ alone for `projection`
//     c = max_j M_j
//
// In units of log 2, as the map takes it. −∞ where no key exists.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

void kernel::buildKeyMaximum(BuildSite &site, const Problem &problem, const FeatureMap &map, Value result) {
  KernelFrame frame(site, problem, "key_maximum", {tile::Axis::Batch, tile::Axis::Head},
                    hostValues({&problem.key}, {problem.lengths, map.parameter, result}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  int64_t heads = cast<MemRefType>(result.getType()).getDimSize(1), rows = problem.keyTile();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // |x'|² is left out of the queries' logarithms, which is what `projection` wants.
  Side side = map.map.getStabilizer() == attn::Stabilizer::Projection ? Side::Query : Side::Key;
  TokenReader key(tiles, frame, problem, problem.key, point, heads);
  MapAtPoint mapped(tiles, frame, problem, map, point);
  Value limit = keyLimit(frame, tiles, problem, point);
  auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
    Value l = mapped.logarithms(inner, key, first, rows, side, limit).exponents;                // [Tk, m]
    Value largest = inner.mask(inner.reduceMax(l, 1), -infinity, inner.sub(limit, first), Value(), Value()); // [Tk]
    return {inner.maximum(carried[0], largest)};
  };
  Value none = tiles.constant({rows}, -infinity);
  Value maxima = loop(tiles, tiles.maxima(), tiles.index(0), limit, rows, none, step)[0];
  tiles.store(tiles.reduceMax(tiles.expand(maxima, 0, {1, rows}), 1), frame[result], {point.batch, point.head});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.key.memory, 0), host.index(heads)});
}
