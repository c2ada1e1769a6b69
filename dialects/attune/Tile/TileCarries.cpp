//===- TileCarries.cpp - What loops carry along the sequence --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"
#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::tile;

#include "attune/Tile/TileCarryInterface.cpp.inc"

static ArrayRef<int64_t> shapeOf(Type tile) { return cast<RankedTensorType>(tile).getShape(); }

static SmallVector<Value> constants(TileBuilder &tiles, TypeRange types, double value) {
  return llvm::map_to_vector(types, [&](Type type) { return tiles.constant(shapeOf(type), value); });
}

ValueRange attune::tile::cloneSteps(OpBuilder &builder, Operation *loop, Value lower, Value upper, ValueRange inits) {
  auto piece = cast<LoopOp>(builder.clone(*loop));
  piece.getLowerMutable().assign(lower);
  piece.getUpperMutable().assign(upper);
  piece.getInitArgsMutable().assign(inits);
  return piece.getResults();
}

//===----------------------------------------------------------------------===//
// #tile.sum, #tile.maximum and #tile.sequential
//===----------------------------------------------------------------------===//

LogicalResult SequentialAttr::verifyState(TypeRange, function_ref<InFlightDiagnostic()>) const { return success(); }

SmallVector<Value> SequentialAttr::buildIdentityState(OpBuilder &builder, Location loc, TypeRange types) const {
  return SumAttr::get(getContext()).buildIdentityState(builder, loc, types);
}

/// There are no spans to compose.
SmallVector<Value> SequentialAttr::buildCompose(OpBuilder &, Location, ValueRange, ValueRange later) const { return llvm::to_vector(later); }

FailureOr<SmallVector<Value>> SequentialAttr::buildSpan(OpBuilder &, Operation *loop, Value, Value) const {
  return loop->emitOpError() << "expected a carry of which some of the steps have a span, but got " << *this << "; leave the loop uncut";
}

LogicalResult SumAttr::verifyState(TypeRange, function_ref<InFlightDiagnostic()>) const { return success(); }

SmallVector<Value> SumAttr::buildIdentityState(OpBuilder &builder, Location loc, TypeRange types) const {
  TileBuilder tiles(builder, loc);
  return constants(tiles, types, 0);
}

SmallVector<Value> SumAttr::buildCompose(OpBuilder &builder, Location loc, ValueRange earlier, ValueRange later) const {
  TileBuilder tiles(builder, loc);
  return llvm::map_to_vector(llvm::zip_equal(earlier, later),
                             [&](auto pair) { return tiles.plus(std::get<0>(pair), std::get<1>(pair)); });
}

LogicalResult MaximumAttr::verifyState(TypeRange, function_ref<InFlightDiagnostic()>) const { return success(); }

SmallVector<Value> MaximumAttr::buildIdentityState(OpBuilder &builder, Location loc, TypeRange types) const {
  TileBuilder tiles(builder, loc);
  return constants(tiles, types, -INFINITY);
}

SmallVector<Value> MaximumAttr::buildCompose(OpBuilder &builder, Location loc, ValueRange earlier,
                                             ValueRange later) const {
  TileBuilder tiles(builder, loc);
  return llvm::map_to_vector(llvm::zip_equal(earlier, later),
                             [&](auto pair) { return tiles.maximum(std::get<0>(pair), std::get<1>(pair)); });
}

//===----------------------------------------------------------------------===//
// Bytecode of version 1
//===----------------------------------------------------------------------===//

Attribute FirstCarryAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  if (succeeded(parser.parseOptionalKeyword("sum")))
    return SumAttr::get(context);
  if (succeeded(parser.parseOptionalKeyword("maximum")))
    return MaximumAttr::get(context);
  if (succeeded(parser.parseOptionalKeyword("softmax")))
    return RescaledSumAttr::get(context, RescaledSumAttr::exp2);
  parser.emitError(parser.getCurrentLocation()) << "expected sum, softmax or maximum";
  return {};
}

void FirstCarryAttr::print(AsmPrinter &) const {}

//===----------------------------------------------------------------------===//
// #tile.rescaled_sum
//===----------------------------------------------------------------------===//

LogicalResult RescaledSumAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t power, Unit) {
  return power >= 0 ? success() : emitError() << "expected a power of at least 1, but got " << power;
}

LogicalResult RescaledSumAttr::verifyState(TypeRange types, function_ref<InFlightDiagnostic()> emitError) const {
  if (types.size() < 2 || shapeOf(types[0]).size() != 1)
    return emitError() << "expected " << *this << " to carry a unit of rank 1 and sums in it, but got " << types;
  int64_t rows = shapeOf(types[0])[0];
  if (getUnit() == Unit::Scalar && rows != 1)
    return emitError() << "expected " << *this << " to carry a unit [1], but got " << types[0];
  for (Type type : types.drop_front())
    if (getUnit() == Unit::Row && shapeOf(type)[0] != rows)
      return emitError() << "expected " << *this << " to carry sums of " << rows << " rows, but got " << type;
  return success();
}

/// Less than any exponent of a weight, and finite: bodies subtract units, and −∞ − −∞ would be NaN.
static constexpr double leastExponent = -1e30;

SmallVector<Value> RescaledSumAttr::buildIdentityState(OpBuilder &builder, Location loc, TypeRange types) const {
  TileBuilder tiles(builder, loc);
  SmallVector<Value> state = constants(tiles, types, 0);
  state[0] = tiles.constant(shapeOf(types[0]), getPower() == exp2 ? leastExponent : leastUnit);
  return state;
}

/// act(u₁) / act(u) of each piece [R].
static SmallVector<Value> factorsOf(TileBuilder &tiles, int64_t power, ArrayRef<Value> units, Value unit) {
  ArrayRef<int64_t> rows = tiles.shape(unit);
  if (power == RescaledSumAttr::exp2) {
    // −∞ − −∞ would be NaN.
    Value shift = tiles.selectEqual(unit, -INFINITY, tiles.constant(rows, 0), unit);
    return llvm::map_to_vector(units, [&](Value u) { return tiles.exp2(tiles.minus(u, shift)); });
  }
  Value one = tiles.constant(rows, 1), inverse = tiles.over(one, unit);
  return llvm::map_to_vector(units, [&](Value u) {
    Value factor = tiles.power(tiles.times(u, inverse), static_cast<double>(power));
    return tiles.select(tiles.compare(arith::CmpFPredicate::OEQ, u, unit), one, factor); // u · (1 / u) may be less than 1
  });
}

SmallVector<Value> RescaledSumAttr::buildCompose(OpBuilder &builder, Location loc, ValueRange earlier,
                                                 ValueRange later) const {
  TileBuilder tiles(builder, loc);
  Value unit = tiles.maximum(earlier[0], later[0]);                                            // [R]
  SmallVector<Value> factors = factorsOf(tiles, getPower(), {earlier[0], later[0]}, unit);     // [R] each
  SmallVector<Value> state{unit};
  for (auto [a, b] : llvm::zip_equal(earlier.drop_front(), later.drop_front()))
    state.push_back(tiles.plus(rescaled(tiles, a, factors[0]), rescaled(tiles, b, factors[1])));
  return state;
}
