//===- EvalElementwise.cpp - arith and math on tiles and on scalars of floats ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IntegerOps.h"
#include "TileFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// An elementwise function; the arguments are the operands' elements, of which there are at most three.
using Elementwise = std::function<double(const double *)>;
/// One without a state, as tables of names hold them.
using Plain = double (*)(const double *);
static constexpr unsigned mostOperands = 3;

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

/// The angle of `turns` + `quarters` / 4 as at most an eighth of a turn, in radians, past a whole number of quarters.
static std::pair<double, int> quarterAndRest(double turns, int quarters) {
  double part = turns - std::nearbyint(turns); // without rounding, as is the next difference
  double quarter = std::nearbyint(4 * part);
  return {2 * M_PI * (part - quarter / 4), (static_cast<int>(std::isnan(quarter) ? 0 : quarter) + quarters) & 3};
}

/// sin(2π · turns), of which whole quarters are exact.
static double sineOfTurns(double turns, int quarters = 0) {
  auto [rest, quarter] = quarterAndRest(turns, quarters);
  double magnitude = quarter % 2 ? std::cos(rest) : std::sin(rest);
  return quarter < 2 ? magnitude : -magnitude;
}

static Plain unaryFunction(StringRef name) {
  return llvm::StringSwitch<Plain>(name)
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
      .Case("math.roundeven", [](const double *x) { return std::nearbyint(x[0]); })
      .Case("math.rsqrt", [](const double *x) { return 1 / std::sqrt(x[0]); })
      .Case("math.sin", [](const double *x) { return std::sin(x[0]); })
      .Case("math.sqrt", [](const double *x) { return std::sqrt(x[0]); })
      .Case("math.tanh", [](const double *x) { return std::tanh(x[0]); })
      .Case("tile.cosine", [](const double *x) { return sineOfTurns(x[0], 1); })
      .Case("tile.sine", [](const double *x) { return sineOfTurns(x[0]); })
      .Default(nullptr);
}

static Plain otherFunction(StringRef name) {
  return llvm::StringSwitch<Plain>(name)
      .Case("arith.addf", [](const double *x) { return x[0] + x[1]; })
      .Case("arith.subf", [](const double *x) { return x[0] - x[1]; })
      .Case("arith.mulf", [](const double *x) { return x[0] * x[1]; })
      .Case("arith.divf", [](const double *x) { return x[0] / x[1]; })
      .Case("arith.maximumf", maximum)
      .Case("arith.minimumf", minimum)
      .Case("arith.maxnumf", [](const double *x) { return std::fmax(x[0], x[1]); })
      .Case("arith.minnumf", [](const double *x) { return std::fmin(x[0], x[1]); })
      .Case("arith.select", [](const double *x) { return x[0] != 0 ? x[1] : x[2]; })
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
  llvm_unreachable("every predicate is above");
}

template <size_t... i> static Plain comparison(arith::CmpFPredicate predicate, std::index_sequence<i...>) {
  static constexpr Plain table[] = {compare<static_cast<arith::CmpFPredicate>(i)>...};
  return table[static_cast<size_t>(predicate)];
}

/// An op on integers; i32 and i1 fit into f64.
static Elementwise ofIntegers(Operation &op) {
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return [&op](const double *x) { return floatOf(op, static_cast<int64_t>(x[0])); };
  IntegerFunction function = integerFunction(op);
  if (!function)
    return nullptr;
  return [function, count = op.getNumOperands()](const double *x) {
    int64_t integers[mostOperands] = {};
    std::copy(x, x + std::min(count, mostOperands), integers);
    return static_cast<double>(function(integers));
  };
}

static Elementwise functionOf(Operation &op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparison(compare.getPredicate(), std::make_index_sequence<arith::getMaxEnumValForCmpFPredicate() + 1>());
  StringRef name = op.getName().getStringRef();
  Plain plain = unaryFunction(name);
  plain = plain ? plain : otherFunction(name);
  return plain ? Elementwise(plain) : ofIntegers(op);
}

//===----------------------------------------------------------------------===//
// Over tiles and scalars
//===----------------------------------------------------------------------===//

/// The elements that a tile can have.
static bool isElement(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(32) || type.isInteger(1);
}

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

static std::vector<double> apply(const Frame &frame, Operation &op, const Elementwise &function, size_t count) {
  ArrayRef<double> operands[mostOperands];
  double scalars[mostOperands] = {};
  for (auto [i, operand] : llvm::enumerate(op.getOperands().take_front(mostOperands)))
    operands[i] = elementsOf(frame, operand, scalars[i]);
  std::vector<double> result(count);
  double x[mostOperands] = {};
  for (size_t e = 0; e < count; ++e) {
    for (unsigned i = 0; i < op.getNumOperands() && i < mostOperands; ++i)
      x[i] = operands[i][operands[i].size() == 1 ? 0 : e]; // arith.select may have one condition for all
    result[e] = function(x);
  }
  return result;
}

/// Memory that nobody has written is NaN, of which there is no integer.
static LogicalResult checkIntegers(const Frame &frame, Operation &op) {
  for (mlir::Value operand : op.getOperands()) {
    double scalar = 0;
    if (isTileOf(operand.getType()) && cast<RankedTensorType>(operand.getType()).getElementType().isInteger())
      for (double element : elementsOf(frame, operand, scalar))
        if (std::isnan(element))
          return op.emitOpError() << "expected integers that have been written, but got " << element;
  }
  return success();
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
  else if (type.getElementType().isInteger())
    for (const APInt &element : dense.getValues<APInt>())
      tile.elements.push_back(static_cast<double>(element.getSExtValue()));
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
  if (failed(checkIntegers(frame, op)))
    return failure();
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
