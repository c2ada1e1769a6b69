//===- EvalIndex.cpp - arith on integers and indices ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"
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

static std::optional<LogicalResult> evalBinary(Frame &frame, Operation &op) {
  StringRef name = op.getName().getStringRef();
  Type type = op.getResult(0).getType();
  int64_t a = frame.integer(op.getOperand(0)), b = frame.integer(op.getOperand(1));
  auto finish = [&](int64_t result) {
    frame.set(op.getResult(0), wrap(result, type));
    return success();
  };
  if (Binary function = signedFunction(name))
    return finish(function(a, b));
  if (UnsignedBinary function = unsignedFunction(name))
    return finish(function(unsignedOf(a, type), unsignedOf(b, type)));
  Binary division = divisionFunction(name);
  UnsignedBinary plain = unsignedDivision(name);
  if (!division && !plain)
    return std::nullopt;
  if (b == 0)
    return op.emitOpError() << "expected a divisor other than 0";
  if (plain)
    return finish(plain(unsignedOf(a, type), unsignedOf(b, type)));
  if (b == -1)
    return finish(name == "arith.remsi" ? 0 : static_cast<int64_t>(-static_cast<uint64_t>(a)));
  return finish(division(a, b));
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
  return false;
}

/// Casts between integers, and from integers to floats.
static std::optional<LogicalResult> evalCast(Frame &frame, Operation &op) {
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  int64_t value = frame.integer(op.getOperand(0));
  int64_t negative = from.isInteger(1) ? -value : value; // as a signed number
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    frame.set(op.getResult(0), wrap(negative, to));
  else if (isa<arith::TruncIOp>(op))
    frame.set(op.getResult(0), wrap(value, to));
  else if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    frame.set(op.getResult(0), wrap(static_cast<int64_t>(unsignedOf(value, from)), to));
  else if (isa<arith::SIToFPOp>(op))
    frame.set(op.getResult(0), resultOf(static_cast<double>(negative), to, frame.options.precision));
  else if (isa<arith::UIToFPOp>(op))
    frame.set(op.getResult(0), resultOf(static_cast<double>(unsignedOf(value, from)), to, frame.options.precision));
  else
    return std::nullopt;
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
  if (!llvm::all_of(op.getOperandTypes(), isInteger))
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Type type = compare.getLhs().getType();
    frame.set(compare, int64_t(holds(compare.getPredicate(), frame.integer(compare.getLhs()),
                                     frame.integer(compare.getRhs()), type)));
    return success();
  }
  switch (op.getNumOperands()) {
  case 1: return evalCast(frame, op);
  case 2: return evalBinary(frame, op);
  default: return std::nullopt;
  }
}
