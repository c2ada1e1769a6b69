//===- TileConstants.cpp - Constant tiles and the numbers in them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"

#include <cmath>

using namespace mlir;
using namespace attune::tile;

//===----------------------------------------------------------------------===//
// #tile.exact
//===----------------------------------------------------------------------===//

// #tile.exact<NUMBER> : TYPE, the type being parsed and printed by what is around it.
Attribute ExactAttr::parse(AsmParser &parser, Type type) {
  SMLoc place = parser.getCurrentLocation();
  double value;
  if (parser.parseLess() || parser.parseFloat(value) || parser.parseGreater())
    return {};
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  if (!tensor)
    return parser.emitError(place) << "expected a tile type after the number", Attribute();
  return parser.getChecked<ExactAttr>(place, parser.getContext(), tensor, parser.getBuilder().getF64FloatAttr(value));
}

void ExactAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printFloat(getValueAttr().getValue());
  printer << '>';
}

LogicalResult ExactAttr::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType type, FloatAttr value) {
  if (!isTile(type) || !type.getElementType().isF32())
    return emitError() << "expected a tile of f32, but got " << type;
  if (!value.getType().isF64() || !value.getValue().isFinite())
    return emitError() << "expected a finite f64, but got " << value;
  double number = value.getValueAsDouble();
  if (static_cast<double>(static_cast<float>(number)) == number)
    return emitError() << "expected a number that f32 does not hold, but got " << value << "; write it as dense<...>";
  return success();
}

//===----------------------------------------------------------------------===//
// Any constant tile
//===----------------------------------------------------------------------===//

TypedAttr attune::tile::constantTile(RankedTensorType type, double value) {
  bool isRounded = type.getElementType().isF32() && std::isfinite(value) && static_cast<float>(value) != value;
  if (isRounded)
    return ExactAttr::get(type, value);
  if (isa<FloatType>(type.getElementType()))
    return DenseElementsAttr::get(type, FloatAttr::get(type.getElementType(), value));
  return DenseElementsAttr::get(type, IntegerAttr::get(type.getElementType(), static_cast<int64_t>(value)));
}

std::optional<double> attune::tile::splatValue(Value tile) {
  auto constant = tile.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto exact = dyn_cast<ExactAttr>(constant.getValue()))
    return exact.getValue();
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<FloatAttr>().getValueAsDouble();
  APInt integer = elements.getSplatValue<APInt>();
  return static_cast<double>(integer.getBitWidth() == 1 ? integer.getZExtValue() : integer.getSExtValue());
}
