//===- Pairs.cpp - Products over slices of columns ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// Sums over the columns of tokens, of which a step has a slice.
struct OverColumns : StreamedTerm {
  explicit OverColumns(Representation representation) : representation(representation) {}

  std::optional<Representation> takes(unsigned) const override { return std::nullopt; }
  Representation gives() const override { return representation; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }

  Representation representation;
};

struct Pairs : OverColumns {
  Pairs(Axis rows, Axis columns, Representation gives, terms::Digits digits)
      : OverColumns(gives), rows(rows), columns(columns), digits(digits) {}

  StringRef name() const override { return "pairs"; }
  AxisSet ownAxes() const override { return setOf({rows, columns}); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    return {{site[rows].count, site[columns].count}};
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type type = digits == terms::Digits::Operand ? site.operand() : Type(tiles.builder.getF32Type());
    Value a = operands[0]->tile(site, type), b = operands[1]->tile(site, type);                     // [Ta, c], [Tb, c]
    bool exact = digits == terms::Digits::All;
    return {exact ? tiles.exactDot(a, b, sums[0], false, true) : tiles.dot(a, b, sums[0], false, true)};
  }

  Axis rows, columns;
  terms::Digits digits;
};

struct Squares : OverColumns {
  Squares(Axis rows, double factor) : OverColumns(Representation::Plain), rows(rows), factor(factor) {}

  StringRef name() const override { return "squares"; }
  void printParameters(raw_ostream &os) const override { os << " {factor = " << factor << '}'; }
  AxisSet ownAxes() const override { return setOf(rows); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override { return {{site[rows].count}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site, tiles.builder.getF32Type());                                  // [T, c]
    Value part = tiles.reduceAdd(tiles.times(x, x), 1);                                             // [T]
    return {tiles.plus(sums[0], tiles.times(part, tiles.constant(tiles.shape(part), factor)))};
  }

  Axis rows;
  double factor;
};
} // namespace

terms::StreamedPtr terms::pairs(Axis rows, Axis columns, Representation gives, Digits digits) {
  return std::make_unique<Pairs>(rows, columns, gives, digits);
}
terms::StreamedPtr terms::squares(Axis rows, double factor) { return std::make_unique<Squares>(rows, factor); }
