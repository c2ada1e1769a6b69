//===- GoingOn.cpp - Tokens behind those that came before ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// Rows of what came before, then those of x.
struct Behind : Term {
  Behind(Index before, Index count) : before(std::move(before)), count(std::move(count)) {}

  StringRef name() const override { return "behind"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Plain; }
  AxisSet ownAxes() const override { return setOf({Axis::Batch, Axis::Query}); }
  void appendArguments(SmallVectorImpl<Value> &values) const override {
    before.appendArguments(values);
    count.appendArguments(values);
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    AxisRange rows = site[Axis::Query];
    Value first = rows.first, held = before.at(site), all = count.at(site);
    rows.first = tiles.sub(first, held), rows.lower = tiles.index(0), rows.limit = all, rows.number = Value();
    Value x = operands[0]->tile(site.with(Axis::Query, rows), tiles.builder.getF32Type());          // [T, c]
    SmallVector<int64_t> shape(tiles.shape(x));
    Value places = tiles.expand(tiles.iota(first, shape[0]), 1, shape), none = tiles.constant(shape, 0);
    auto isBelow = [&](Value end) {
      return tiles.compare(arith::CmpFPredicate::OLT, places, tile::repeated(tiles, tiles.iota(end, 1), shape));
    };
    x = tiles.select(isBelow(tiles.add(held, all)), x, none); // a bias may have been added to rows that are none
    return {tiles.select(isBelow(held), operands.size() > 1 ? operands[1]->tile(site) : none, x)};
  }

  Index before, count;
};
} // namespace

terms::TermPtr terms::behind(Index before, Index count) { return std::make_unique<Behind>(std::move(before), std::move(count)); }
