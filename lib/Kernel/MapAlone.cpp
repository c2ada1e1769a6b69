//===- MapAlone.cpp - Features of keys, written once for their readers -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head of the features, block of keys)     B = φ(k), or the exponents of φ(k) and their factors
//
// Its readers find rows of f32 in the place of keys, the blocks of features side by side, and nothing to do to them.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "LogState.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The tiles of features at a grid point, [Tk, columns of the block] each.
static Features mapTile(TileBuilder &tiles, const MapAtPoint &mapped, const TokenReader &key, Value first, int64_t rows,
                        Value limit, bool logarithms) {
  if (!logarithms)
    return mapped.features(tiles, key, first, rows, Side::Key, limit);
  LogFeatures features = mapped.logarithms(tiles, key, first, rows, Side::Key, limit);
  Features blocks{features.exponents};
  if (features.mantissas)
    blocks.push_back(features.mantissas);
  return blocks;
}

Tokens kernel::buildMapAlone(BuildSite &site, const Problem &problem, const FeatureMap &map, bool logarithms) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = parameterHeads(problem, map), rows = problem.keyTile();
  bool pairs = logarithms && map.map.getKind() == attn::FeatureKind::Focused;
  int64_t columns = pairs ? 2 * map.features : map.features;
  Value batch = host.dim(problem.key.memory, 0), count = tokenCount(host, problem.key.memory);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value memory = site.workspace({dynamic, heads, dynamic, columns}, {batch, count});
  KernelFrame frame(site, problem, "features", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                    hostValues({&problem.key}, {problem.lengths, map.parameter, map.shift, memory}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value first = tiles.mul(tiles.programId(tile::Axis::KeyPiece), rows), limit = keyLimit(frame, tiles, problem, point);
  TokenReader key(tiles, frame, problem, problem.key, point, heads);
  MapAtPoint mapped(tiles, frame, problem, map, point);
  int64_t column = 0;
  for (Value block : mapTile(tiles, mapped, key, first, rows, limit, logarithms)) {
    tiles.store(block, frame[memory], {point.batch, point.head, first, tiles.index(column)});
    column += tiles.shape(block)[1];
  }
  frame.finish(site, {batch, host.index(heads), host.ceilDiv(count, rows)});
  return Tokens{memory, 0, heads, columns, {}};
}
