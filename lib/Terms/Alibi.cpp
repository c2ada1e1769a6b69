//===- Alibi.cpp - Logits that fade with the distance ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last query stands at the last key, as for causal masks. Distances are of positions in the sequence, which the tokens of a
// window have, too.
//
//===----------------------------------------------------------------------===//
#include "Extents.h"
#include "Terms.h"

#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// Positions of the tokens of an axis in the sequence, from that of the first key of the tile on, so that near ones are exact whatever
/// the length: [T].
static Value positionsOf(const TileSite &site, Axis axis, Value shift) {
  TileBuilder &tiles = site.tiles();
  const AxisRange &rows = site[axis];
  if (rows.view.window)
    return kernel::positions(tiles, rows.view, rows.first, rows.count);
  return tiles.iota(tiles.add(tiles.sub(rows.first, site[Axis::Key].first), shift), rows.count);
}

/// |i + N − n − j| of the pairs at a site [Tq, Tk].
static Value distances(const TileSite &site, const Extent &queries, const Extent &keys, ArrayRef<int64_t> pairs) {
  TileBuilder &tiles = site.tiles();
  Value offset = tiles.sub(countOf(site, keys), countOf(site, queries));                            // N − n
  Value i = tiles.expand(positionsOf(site, Axis::Query, offset), 1, pairs);
  Value j = tiles.expand(positionsOf(site, Axis::Key, tiles.index(0)), 0, pairs);
  return tiles.abs(tiles.minus(i, j));
}

namespace {
struct Alibi : Term {
  Alibi(const Extent &queries, const Extent &keys) : queries(queries), keys(keys) {}

  StringRef name() const override { return "alibi"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Log; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { values.append({queries.memory, keys.memory}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value s = operands[0]->tile(site), slope = operands[1]->tile(site);                             // [Tq, Tk], [1]
    ArrayRef<int64_t> pairs = tiles.shape(s);
    slope = tiles.times(slope, tiles.constant({1}, -M_LOG2E));
    return {tiles.fma(distances(site, queries, keys, pairs), tile::repeated(tiles, slope, pairs), s)};
  }

  Extent queries, keys;
};

struct TimesDistances : Term {
  TimesDistances(const Extent &queries, const Extent &keys) : queries(queries), keys(keys) {}

  StringRef name() const override { return "times_distances"; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  void appendArguments(SmallVectorImpl<Value> &values) const override { values.append({queries.memory, keys.memory}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    Value w = operands[0]->tile(site);                                                              // [Tq, Tk]
    return {site.tiles().times(w, distances(site, queries, keys, site.tiles().shape(w)))};
  }

  Extent queries, keys;
};
} // namespace

terms::TermPtr terms::timesDistances(const Extent &queries, const Extent &keys) {
  return std::make_unique<TimesDistances>(queries, keys);
}

terms::TermPtr terms::alibi(const Extent &queries, const Extent &keys) { return std::make_unique<Alibi>(queries, keys); }
