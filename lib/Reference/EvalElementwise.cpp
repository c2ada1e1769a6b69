//===- EvalElementwise.cpp - arith and math on tiles and on scalars of floats ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// An elementwise function; the arguments are the operands' elements.
using Elementwise = double (*)(const double *);

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// IEEE 754-2019 maximum: a NaN wins, and +0 is above −0.
static double maximum(const double *x) {
  if (std::isnan(x[0]) || std::isnan(x[1]))
    return std::nan("");
  return x[0] == x[1] ? (std::signbit(x[0]) ? x[1] : x[0]) : std::max(x[0], x[1]);
}

static double minimum(const double *x) {
  double negated[] = {-x[0], -x[1]};
  return -maximum(negated);
}

static Elementwise unaryFunction(StringRef name) {
  return llvm::StringSwitch<Elementwise>(name)
      .Case("arith.negf", [](const double *x) { return -x[0]; })
      .Cases({"arith.extf", "arith.truncf"}, [](const double *x) { return x[0]; })
      .Case("math.absf", [](const double *x) { return std::fabs(x[0]); })
      .Case("math.ceil", [](const double *x) { return std::ceil(x[0]); })
      .Case("math.cos", [](const double *x) { return std::cos(x[0]); })
      .Case("math.erf", [](const double *x) { return std::erf(x[0]); })
      .Case("math.exp", [](const double *x) { return std::exp(x[0]); })
      .Case("math.exp2", [](const double *x) { return std::exp2(x[0]); })
      .Case("math.expm1", [](const double *x) { return std::expm1(x[0]); })
      .Case("math.floor", [](const double *x) { return std::floor(x[0]); })
      .Case("math.log", [](const double *x) { return std::log(x[0]); })
      .Case("math.log1p", [](const double *x) { return std::log1p(x[0]); })
      .Case("math.log2", [](const double *x) { return std::log2(x[0]); })
      .Case("math.rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); })
      .Case("math.sin", [](const double *x) { return std::sin(x[0]); })
      .Case("math.sqrt", [](const double *x) { return std::sqrt(x[0]); })
      .Case("math.tanh", [](const double *x) { return std::tanh(x[0]); })
      .Default(nullptr);
}

static Elementwise otherFunction(StringRef name) {
  return llvm::StringSwitch<Elementwise>(name)
      .Case("arith.addf", [](const double *x) { return x[0] + x[1]; })
      .Case("arith.subf", [](const double *x) { return x[0] - x[1]; })
      .Case("arith.mulf", [](const double *x) { return x[0] * x[1]; })
      .Case("arith.divf", [](const double *x) { return x[0] / x[1]; })
      .Case("arith.maximumf", maximum)
      .Case("arith.minimumf", minimum)
      .Case("arith.maxnumf", [](const double *x) { return std::fmax(x[0], x[1]); })
      .Case("arith.minnumf", [](const double *x) { return std::fmin(x[0], x[1]); })
      .Case("arith.select", [](const double *x) { return x[0] != 0 ? x[1] : x[2]; })
      // Of i1; wider integers are not elements of tiles.
      .Case("arith.andi", [](const double *x) { return x[0] * x[1]; })
      .Case("arith.ori", [](const double *x) { return std::max(x[0], x[1]); })
      .Case("arith.xori", [](const double *x) { return double(x[0] != x[1]); })
      .Case("math.fma", [](const double *x) { return std::fma(x[0], x[1], x[2]); })
      .Case("math.powf", [](const double *x) { return std::pow(x[0], x[1]); })
      .Default(nullptr);
}

template <arith::CmpFPredicate predicate> static double compare(const double *x) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(x[0]) || std::isnan(x[1]);
  switch (predicate) {
  case P::AlwaysFalse: return 0;
  case P::OEQ: return !unordered && x[0] == x[1];
  case P::OGT: return !unordered && x[0] > x[1];
  case P::OGE: return !unordered && x[0] >= x[1];
  case P::OLT: return !unordered && x[0] < x[1];
  case P::OLE: return !unordered && x[0] <= x[1];
  case P::ONE: return !unordered && x[0] != x[1];
  case P::ORD: return !unordered;
  case P::UEQ: return unordered || x[0] == x[1];
  case P::UGT: return unordered || x[0] > x[1];
  case P::UGE: return unordered || x[0] >= x[1];
  case P::ULT: return unordered || x[0] < x[1];
  case P::ULE: return unordered || x[0] <= x[1];
  case P::UNE: return unordered || x[0] != x[1];
  case P::UNO: return unordered;
  case P::AlwaysTrue: return 1;
  }
  return 0;
}

template <size_t... i> static Elementwise comparison(arith::CmpFPredicate predicate, std::index_sequence<i...>) {
  static constexpr Elementwise table[] = {compare<static_cast<arith::CmpFPredicate>(i)>...};
  return table[static_cast<size_t>(predicate)];
}

static Elementwise functionOf(Operation &op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparison(compare.getPredicate(), std::make_index_sequence<arith::getMaxEnumValForCmpFPredicate() + 1>());
  StringRef name = op.getName().getStringRef();
  Elementwise unary = unaryFunction(name);
  return unary ? unary : otherFunction(name);
}

//===----------------------------------------------------------------------===//
// Over tiles and scalars
//===----------------------------------------------------------------------===//

/// Floats and i1: the elements that a tile can have.
static bool isElement(Type type) { return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1); }

static bool isTileOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isElement(tensor.getElementType());
}

/// The elements of a tile, or a scalar as one element.
static ArrayRef<double> elementsOf(const Frame &frame, mlir::Value operand, double &scalar) {
  if (isa<RankedTensorType>(operand.getType()))
    return frame.tile(operand).elements;
  scalar = operand.getType().isInteger() ? static_cast<double>(frame.integer(operand)) : frame.number(operand);
  return ArrayRef(scalar);
}

static std::vector<double> apply(const Frame &frame, Operation &op, Elementwise function, size_t count) {
  constexpr unsigned most = 3;
  ArrayRef<double> operands[most];
  double scalars[most] = {};
  for (auto [i, operand] : llvm::enumerate(op.getOperands().take_front(most)))
    operands[i] = elementsOf(frame, operand, scalars[i]);
  std::vector<double> result(count);
  double x[most] = {};
  for (size_t e = 0; e < count; ++e) {
    for (unsigned i = 0; i < op.getNumOperands() && i < most; ++i)
      x[i] = operands[i][operands[i].size() == 1 ? 0 : e]; // arith.select may have one condition for all
    result[e] = function(x);
  }
  return result;
}

static std::optional<LogicalResult> evalConstant(Frame &frame, arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
    frame.set(op, number.getValueAsDouble());
    return success();
  }
  if (!type || !isTileOf(type))
    return std::nullopt;
  TileValue tile{llvm::SmallVector<int64_t, 2>(type.getShape()), {}};
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (std::optional<double> number = tile::splatValue(op))
    tile.elements.assign(type.getNumElements(), *number);
  else if (!dense)
    return std::nullopt;
  else if (type.getElementType().isInteger(1))
    for (bool element : dense.getValues<bool>())
      tile.elements.push_back(element);
  else
    for (FloatAttr element : dense.getValues<FloatAttr>())
      tile.elements.push_back(element.getValueAsDouble());
  frame.setTile(op, std::move(tile));
  return success();
}

std::optional<LogicalResult> attune::reference::evalElementwise(Frame &frame, Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return evalConstant(frame, constant);
  Elementwise function = op.getNumResults() == 1 ? functionOf(op) : nullptr;
  if (!function)
    return std::nullopt;
  Type type = op.getResult(0).getType();
  auto fits = [](Type type) { return isTileOf(type) || isElement(type); };
  if (!fits(type) || !llvm::all_of(op.getOperandTypes(), fits))
    return std::nullopt;
  if (isTileOf(type)) {
    auto shape = cast<RankedTensorType>(type).getShape();
    frame.setTile(op.getResult(0), {llvm::SmallVector<int64_t, 2>(shape),
                                    apply(frame, op, function, cast<RankedTensorType>(type).getNumElements())});
    return success();
  }
  double result = apply(frame, op, function, 1).front();
  if (type.isInteger(1))
    frame.set(op.getResult(0), static_cast<int64_t>(result));
  else
    frame.set(op.getResult(0), resultOf(result, type, frame.options.precision));
  return success();
}
