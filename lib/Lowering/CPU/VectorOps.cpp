//===- VectorOps.cpp - Ops on one vector ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "VectorOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

//===----------------------------------------------------------------------===//
// Storage types
//===----------------------------------------------------------------------===//

Type cpu::storageOf(Type element) { return element.isBF16() ? IntegerType::get(element.getContext(), 16) : element; }

static Value integers(Emit &emit, int64_t value) {
  auto type = emit.vectorOf(emit.getI32Type());
  return arith::ConstantOp::create(emit, DenseElementsAttr::get(type, static_cast<int32_t>(value)));
}

Value cpu::toFloats(Emit &emit, Value value, Type element) {
  if (element.isF32() || element.isInteger(32))
    return value;
  if (element.isF16())
    return arith::ExtFOp::create(emit, emit.floats(), value);
  Value bits = arith::ExtUIOp::create(emit, emit.vectorOf(emit.getI32Type()), value);
  bits = arith::ShLIOp::create(emit, bits, integers(emit, 16));
  return arith::BitcastOp::create(emit, emit.floats(), bits);
}

/// Adds half of the last place that stays, less one if the result would be odd: round to nearest even. A NaN keeps its
/// upper bits with the quiet bit set, or the sum could turn it into an infinity.
static Value roundToBf16(Emit &emit, Value value) {
  VectorType words = emit.vectorOf(emit.getI32Type());
  Value bits = arith::BitcastOp::create(emit, words, value);
  Value odd = arith::AndIOp::create(emit, arith::ShRUIOp::create(emit, bits, integers(emit, 16)), integers(emit, 1));
  Value rounded = arith::AddIOp::create(emit, arith::AddIOp::create(emit, bits, integers(emit, 0x7fff)), odd);
  Value quiet = arith::OrIOp::create(emit, bits, integers(emit, 0x400000));
  Value nan = arith::CmpFOp::create(emit, arith::CmpFPredicate::UNO, value, value);
  return arith::ShRUIOp::create(emit, emit.select(nan, quiet, rounded), integers(emit, 16));
}

Value cpu::fromFloats(Emit &emit, Value value, Type element) {
  if (element.isF32() || element.isInteger(32))
    return value;
  if (element.isF16())
    return arith::TruncFOp::create(emit, emit.vectorOf(element), value);
  return arith::TruncIOp::create(emit, emit.vectorOf(emit.getI16Type()), roundToBf16(emit, value));
}

Value cpu::roundedToBf16(Emit &emit, Value value) {
  Value rounded = arith::TruncFOp::create(emit, emit.vectorOf(emit.getBF16Type()), value);
  return arith::BitcastOp::create(emit, emit.vectorOf(emit.getI16Type()), rounded);
}

Value cpu::asFloats(Emit &emit, Value mask) { return emit.select(mask, emit.splat(1.0), emit.splat(0.0)); }

Value cpu::isNotZero(Emit &emit, Value floats) {
  return arith::CmpFOp::create(emit, arith::CmpFPredicate::UNE, floats, emit.splat(0.0));
}

Value cpu::andNot(Emit &emit, Value a, Value b) {
  Value all = emit.lanesBelow(emit.lanes());
  return arith::AndIOp::create(emit, a, arith::XOrIOp::create(emit, b, all));
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// One max or min instruction returns its second operand if either is NaN; so with a constant first it is exactly
/// `maximumf`, up to the sign of zero.
static Value choose(Emit &emit, arith::CmpFPredicate predicate, Value a, Value b) {
  return emit.select(arith::CmpFOp::create(emit, predicate, a, b), a, b);
}

static Value extremum(Emit &emit, Operation *op, Value a, Value b) {
  auto predicate = isa<arith::MaximumFOp, arith::MaxNumFOp>(op) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    std::swap(a, b);
  if (matchPattern(a, m_Constant()))
    return choose(emit, predicate, a, b);
  if (matchPattern(b, m_Constant()))
    return choose(emit, predicate, b, a);
  // max(a, b) is NaN if b is; if a is NaN, take a.
  Value nan = arith::CmpFOp::create(emit, arith::CmpFPredicate::UNO, a, a);
  return emit.select(nan, a, choose(emit, predicate, a, b));
}

bool cpu::isElementwise(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp, arith::CmpFOp,
             arith::SelectOp>(op) ||
         isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
             arith::MaxUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::CmpIOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, math::CtPopOp>(op) ||
         isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::RoundEvenOp, math::FmaOp, math::SqrtOp, math::RsqrtOp,
             math::Exp2Op, math::Log2Op, tile::SineOp, tile::CosineOp>(op);
}

/// A tile of 16 bits that is only stored or multiplied is rounded by the store, and by the product if it takes such
/// numbers.
static bool roundedLater(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) { return isa<tile::StoreOp, tile::DotOp>(user); });
}

/// A power of which a bf16 output needs four digits. Not a factor of rows: those of many steps are multiplied.
static bool isWeight(Operation *op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  std::optional<tile::ScheduleAttr> schedule = kernel ? kernel.getSchedule() : std::nullopt;
  return schedule && schedule->getOperand().isBF16() &&
         cast<ShapedType>(op->getResult(0).getType()).getRank() == 2;
}

Value cpu::emitElementwise(Emit &emit, Operation *op, ValueRange operands) {
  if (isa<arith::ExtFOp>(op))
    return operands[0];
  if (isa<arith::TruncFOp>(op)) {
    Type element = cast<ShapedType>(op->getResult(0).getType()).getElementType();
    return roundedLater(op) ? operands[0] : toFloats(emit, fromFloats(emit, operands[0], element), element);
  }
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op))
    return extremum(emit, op, operands[0], operands[1]);
  if (isa<tile::SineOp, tile::CosineOp>(op))
    return emitSine(emit, operands[0], isa<tile::CosineOp>(op));
  OperationState state(emit.getLoc(), op->getName());
  state.addOperands(operands);
  Type element = cast<ShapedType>(op->getResult(0).getType()).getElementType();
  state.addTypes(element.isInteger() ? emit.vectorOf(element) : emit.floats());
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().starts_with("attune."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    state.attributes.set("fastmath", arith::FastMathFlagsAttr::get(emit.getContext(), arith::FastMathFlags::contract));
  if (isa<math::Exp2Op>(op) && isWeight(op))
    state.attributes.set("fastmath", arith::FastMathFlagsAttr::get(emit.getContext(), arith::FastMathFlags::afn));
  return emit.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value cpu::emitReduction(Emit &emit, tile::ReduceKind kind, Value a, Value b) {
  if (kind == tile::ReduceKind::Max)
    return choose(emit, arith::CmpFPredicate::OGT, a, b);
  auto contract = arith::FastMathFlagsAttr::get(emit.getContext(), arith::FastMathFlags::contract);
  return arith::AddFOp::create(emit, a, b, contract);
}

Value cpu::acrossLanes(Emit &emit, tile::ReduceKind kind, Value value) {
  int64_t lanes = emit.lanes();
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane ^ distance);
    value = emitReduction(emit, kind, value, emit.shuffle(value, value, order));
  }
  return vector::ExtractOp::create(emit, value, ArrayRef<int64_t>{0});
}
