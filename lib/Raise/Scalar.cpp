//===- Scalar.cpp - The function of a scalar op -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune::raise;

static Function functionOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return Function::Equal;
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return Function::NotEqual;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return Function::Less;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return Function::LessEqual;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return Function::Greater;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return Function::GreaterEqual;
  default:
    return Function::Other;
  }
}

/// Unsigned comparisons are of places and sizes, which are not negative, or they would not be read as masks at all:
/// `evaluate` would have to wrap around.
static Function functionOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return Function::Equal;
  case arith::CmpIPredicate::ne:
    return Function::NotEqual;
  case arith::CmpIPredicate::slt:
    return Function::Less;
  case arith::CmpIPredicate::sle:
    return Function::LessEqual;
  case arith::CmpIPredicate::sgt:
    return Function::Greater;
  case arith::CmpIPredicate::sge:
    return Function::GreaterEqual;
  default:
    return Function::Other;
  }
}

/// And, or and xor of truth values; of wider integers they are something else.
static Function ofTruth(Operation *op, Function function) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) ? function : Function::Other;
}

static Function functionOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Function::Add; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return Function::Subtract; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Function::Multiply; })
      .Case<arith::DivFOp>([](auto) { return Function::Divide; })
      .Case<arith::NegFOp>([](auto) { return Function::Negate; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return Function::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>([](auto) { return Function::Min; })
      .Case<math::ExpOp>([](auto) { return Function::Exp; })
      .Case<math::Exp2Op>([](auto) { return Function::Exp2; })
      .Case<math::ExpM1Op>([](auto) { return Function::ExpM1; })
      .Case<math::LogOp>([](auto) { return Function::Log; })
      .Case<math::SqrtOp>([](auto) { return Function::Sqrt; })
      .Case<math::RsqrtOp>([](auto) { return Function::Rsqrt; })
      .Case<math::TanhOp>([](auto) { return Function::Tanh; })
      .Case<math::AbsFOp>([](auto) { return Function::Abs; })
      .Case<math::FloorOp>([](auto) { return Function::Floor; })
      .Case<arith::SelectOp>([](auto) { return Function::Select; })
      .Case<arith::CmpFOp>([](auto compare) { return functionOf(compare.getPredicate()); })
      .Case<arith::CmpIOp>([](auto compare) { return functionOf(compare.getPredicate()); })
      .Case<arith::AndIOp>([](auto op) { return ofTruth(op, Function::And); })
      .Case<arith::OrIOp>([](auto op) { return ofTruth(op, Function::Or); })
      .Case<arith::XOrIOp>([](auto op) { return ofTruth(op, Function::Xor); })
      .Default([](auto) { return Function::Other; });
}

TermRef Terms::readOp(Operation *op, ArrayRef<TermRef> operands) {
  // How often an intermediate result is rounded is not part of a function: attn leaves it open.
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp>(op))
    return operands[0];
  // True is 1 without a sign and −1 with one.
  bool truth = !operands.empty() && getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1);
  if (truth ? isa<arith::ExtUIOp, arith::UIToFPOp>(op) : isa<arith::ExtSIOp, arith::SIToFPOp>(op))
    return operands[0];
  Function function = functionOf(op);
  return function == Function::Other ? other(op, operands) : apply(function, operands);
}

/// A number of any type; true is 1.
static std::optional<double> numberOf(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer)
    return std::nullopt;
  return integer.getType().isInteger(1) ? integer.getValue().getBoolValue()
                                        : static_cast<double>(integer.getValue().getSExtValue());
}

TermRef Terms::readScalar(Value value, Block *body, DenseMap<Value, TermRef> &known, ArrayRef<AffineExpr> places) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    if (std::optional<double> constant = numberOf(attribute))
      return known[value] = number(*constant);
  Operation *op = value.getDefiningOp();
  bool readable = op && op->getNumRegions() == 0 && op->getNumResults() == 1 && op->getNumOperands() != 0 &&
                  isPure(op) && !llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
  if (auto index = value.getDefiningOp<linalg::IndexOp>(); index && op->getBlock() == body)
    return known[value] = place(places[index.getDim()]);
  if (!readable)
    return known[value] = op && op->getBlock() == body ? other(op, {}) : scalar(value);
  SmallVector<TermRef> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(readScalar(operand, body, known, places));
    if (!operands.back())
      return nullptr;
  }
  return known[value] = readOp(op, operands);
}
