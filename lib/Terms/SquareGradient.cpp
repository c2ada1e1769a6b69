//===- SquareGradient.cpp - What reaches the tokens of a tensor square ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   φ_fg = x_f x_g:   x̄_g = Σ_f x_f Φ̄_fg + Σ_f Φ̄_gf x_f
//
// Entry after entry f: the first sum gets x_f times the row f of Φ̄, the second one, at its place f, the product of that row with x.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"
#include "attune/Tile/Units.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct SquareGradient : StreamedTerm {
  explicit SquareGradient(int64_t size) : size(size) {}

  StringRef name() const override { return "square_gradient"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Slice}); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override { return {{site[Axis::Query].count, size}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), entry = operands[1]->tile(site), row = operands[2]->tile(site, f32); // [T, r], [T], [T, r]
    SmallVector<int64_t> shape(tiles.shape(x));
    Value own = tiles.expand(tiles.reduceAdd(tiles.times(row, x), 1), 1, shape);                    // [T, r]
    Value places = tiles.expand(tiles.iota(tiles.index(0), size), 0, shape);
    Value place = tile::repeated(tiles, tiles.iota(site[Axis::Slice].first, 1), shape);
    Value at = tiles.compare(arith::CmpFPredicate::OEQ, places, place);
    Value sum = tiles.fma(tiles.expand(entry, 1, shape), row, sums[0]);
    return {tiles.plus(sum, tiles.select(at, own, tiles.constant(shape, 0)))};
  }

  int64_t size;
};
} // namespace

terms::StreamedPtr terms::squareGradient(int64_t size) { return std::make_unique<SquareGradient>(size); }
