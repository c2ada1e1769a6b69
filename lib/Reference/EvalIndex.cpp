//===- EvalIndex.cpp - arith on integers and indices ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IntegerOps.h"
#include "TileFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace attune::reference;

/// Those whose values fit int64_t.
static bool isInteger(Type type) {
  return type.isIndex() || (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64);
}

/// Values of integers are kept sign-extended, those of i1 as 0 and 1.
static int64_t wrap(int64_t value, Type type) {
  if (type.isInteger(1))
    return value & 1;
  return type.isIndex() ? value : llvm::SignExtend64(value, type.getIntOrFloatBitWidth());
}

/// The value as an unsigned number of its width.
static uint64_t unsignedOf(int64_t value, Type type) {
  if (type.isIndex())
    return value;
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(type.getIntOrFloatBitWidth());
}

using Binary = int64_t (*)(int64_t, int64_t);
using UnsignedBinary = uint64_t (*)(uint64_t, uint64_t);

/// Sums and products wrap around, as the op's description says.
static Binary signedFunction(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("arith.addi", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); })
      .Case("arith.subi", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); })
      .Case("arith.muli", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); })
      .Case("arith.minsi", [](int64_t a, int64_t b) { return std::min(a, b); })
      .Case("arith.maxsi", [](int64_t a, int64_t b) { return std::max(a, b); })
      .Case("arith.andi", [](int64_t a, int64_t b) { return a & b; })
      .Case("arith.ori", [](int64_t a, int64_t b) { return a | b; })
      .Case("arith.xori", [](int64_t a, int64_t b) { return a ^ b; })
      .Default(nullptr);
}

/// Of a divisor that is not 0, nor −1 (where the quotient might not fit).
static Binary divisionFunction(StringRef name) {
  return llvm::StringSwitch<Binary>(name)
      .Case("arith.divsi", [](int64_t a, int64_t b) { return a / b; })
      .Case("arith.remsi", [](int64_t a, int64_t b) { return a % b; })
      .Case("arith.floordivsi", [](int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); })
      .Case("arith.ceildivsi", [](int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); })
      .Default(nullptr);
}

static UnsignedBinary unsignedFunction(StringRef name) {
  return llvm::StringSwitch<UnsignedBinary>(name)
      .Case("arith.minui", [](uint64_t a, uint64_t b) { return std::min(a, b); })
      .Case("arith.maxui", [](uint64_t a, uint64_t b) { return std::max(a, b); })
      .Default(nullptr);
}

static UnsignedBinary unsignedDivision(StringRef name) {
  return llvm::StringSwitch<UnsignedBinary>(name)
      .Case("arith.divui", [](uint64_t a, uint64_t b) { return a / b; })
      .Case("arith.remui", [](uint64_t a, uint64_t b) { return a % b; })
      .Case("arith.ceildivui", [](uint64_t a, uint64_t b) { return a / b + (a % b != 0); })
      .Default(nullptr);
}

static bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b, Type type) {
  using P = arith::CmpIPredicate;
  if (type.isInteger(1)) // 1 is −1 where it has a sign
    a = -a, b = -b;
  uint64_t ua = unsignedOf(a, type), ub = unsignedOf(b, type);
  switch (predicate) {
  case P::eq: return a == b;
  case P::ne: return a != b;
  case P::slt: return a < b;
  case P::sle: return a <= b;
  case P::sgt: return a > b;
  case P::sge: return a >= b;
  case P::ult: return ua < ub;
  case P::ule: return ua <= ub;
  case P::ugt: return ua > ub;
  case P::uge: return ua >= ub;
  }
  llvm_unreachable("every predicate is above");
}

/// Casts between integers.
static IntegerFunction castFunction(Operation &op, Type from, Type to) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) // the 1 of i1 is −1 where it has a sign
    return [=](const int64_t *x) { return wrap(from.isInteger(1) ? -x[0] : x[0], to); };
  if (isa<arith::TruncIOp>(op))
    return [=](const int64_t *x) { return wrap(x[0], to); };
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return [=](const int64_t *x) { return wrap(static_cast<int64_t>(unsignedOf(x[0], from)), to); };
  return nullptr;
}

IntegerFunction attune::reference::integerFunction(Operation &op) {
  if (op.getNumOperands() == 0 || op.getNumResults() != 1)
    return nullptr;
  StringRef name = op.getName().getStringRef();
  Type from = getElementTypeOrSelf(op.getOperand(0)), to = getElementTypeOrSelf(op.getResult(0));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return [=, predicate = compare.getPredicate()](const int64_t *x) { return holds(predicate, x[0], x[1], from); };
  if (Binary function = signedFunction(name))
    return [=](const int64_t *x) { return wrap(function(x[0], x[1]), to); };
  if (UnsignedBinary function = unsignedFunction(name))
    return [=](const int64_t *x) { return wrap(function(unsignedOf(x[0], from), unsignedOf(x[1], from)), to); };
  if (isa<math::CtPopOp>(op))
    return [=](const int64_t *x) { return wrap(llvm::popcount(unsignedOf(x[0], from)), to); };
  return castFunction(op, from, to);
}

double attune::reference::floatOf(Operation &cast, int64_t integer) {
  Type from = getElementTypeOrSelf(cast.getOperand(0));
  if (isa<arith::UIToFPOp>(cast))
    return static_cast<double>(unsignedOf(integer, from));
  return static_cast<double>(from.isInteger(1) ? -integer : integer);
}

static std::optional<LogicalResult> evalDivision(Frame &frame, Operation &op) {
  StringRef name = op.getName().getStringRef();
  Binary division = divisionFunction(name);
  UnsignedBinary plain = unsignedDivision(name);
  if (!division && !plain)
    return std::nullopt;
  Type type = op.getResult(0).getType();
  int64_t a = frame.integer(op.getOperand(0)), b = frame.integer(op.getOperand(1));
  if (b == 0)
    return op.emitOpError() << "expected a divisor other than 0";
  int64_t result = plain     ? static_cast<int64_t>(plain(unsignedOf(a, type), unsignedOf(b, type)))
                   : b != -1 ? division(a, b)
                   : name == "arith.remsi" ? 0
                                           : static_cast<int64_t>(-static_cast<uint64_t>(a));
  frame.set(op.getResult(0), wrap(result, type));
  return success();
}

std::optional<LogicalResult> attune::reference::evalIndexOp(Frame &frame, Operation &op) {
  if (op.getNumResults() != 1)
    return std::nullopt;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    if (!number || !isInteger(constant.getType()))
      return std::nullopt;
    frame.set(constant, wrap(number.getValue().getSExtValue(), constant.getType()));
    return success();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (!select.getCondition().getType().isInteger(1) || isa<RankedTensorType>(select.getType()))
      return std::nullopt;
    frame.set(select, frame.get(frame.integer(select.getCondition()) ? select.getTrueValue() : select.getFalseValue()));
    return success();
  }
  if (op.getNumOperands() == 0 || !llvm::all_of(op.getOperandTypes(), isInteger))
    return std::nullopt;
  mlir::Value result = op.getResult(0);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    double number = floatOf(op, frame.integer(op.getOperand(0)));
    frame.set(result, resultOf(number, result.getType(), frame.options.precision));
    return success();
  }
  IntegerFunction function = integerFunction(op);
  if (!function)
    return evalDivision(frame, op);
  auto operands = llvm::map_to_vector<2>(op.getOperands(), [&](mlir::Value value) { return frame.integer(value); });
  frame.set(result, function(operands.data()));
  return success();
}
