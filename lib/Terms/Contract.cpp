//===- Contract.cpp - Products that reduce an axis ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// acc + x · w, or x · wᵀ. What prepare has folded with ω is f32 whatever the storage is, and keeps its bits: they are those of exponents.
static Value timesWeight(TileBuilder &tiles, Type operand, Value x, Value w, Value acc, bool transposed) {
  Type f32 = tiles.builder.getF32Type();
  if (!operand.isF32() && getElementTypeOrSelf(w).isF32())
    return tiles.exactDot(tiles.cast(x, f32), w, acc, false, transposed);
  return tiles.dot(tiles.cast(x, operand), tiles.cast(w, operand), acc, false, transposed);
}

namespace {
struct Contract : StreamedTerm {
  Contract(Axis rows, int64_t width, bool wide, bool transposed) : rows(rows), width(width), wide(wide), transposed(transposed) {}

  StringRef name() const override { return transposed ? "contract_transposed" : "contract"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    return {{site[rows].count, width}};
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    Value x = operands[0]->tile(site), w = operands[1]->tile(site); // [T, c], [c, width] or [width, c]
    Type type = wide ? Type(site.tiles().builder.getF32Type()) : site.operand();
    return {timesWeight(site.tiles(), type, x, w, sums[0], transposed)};
  }

  Axis rows;
  int64_t width;
  bool wide, transposed;
};
} // namespace

terms::StreamedPtr terms::contract(Axis rows, int64_t width, bool wide, bool transposed) {
  return std::make_unique<Contract>(rows, width, wide, transposed);
}
