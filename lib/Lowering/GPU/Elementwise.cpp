//===- Elementwise.cpp - arith and math on the registers of a thread -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static int64_t registersOf(KernelState &state, RankedTensorType type) {
  if (auto slice = dyn_cast<tile::SliceAttr>(type.getEncoding()))
    return tile::SliceLayout(slice, type.getDimSize(0)).registers();
  return tile::FragmentLayout(cast<tile::FragmentAttr>(type.getEncoding()), type.getShape()).registers();
}

static LogicalResult lowerConstant(KernelState &state, arith::ConstantOp constant) {
  std::optional<double> value = tile::splatValue(constant);
  auto type = cast<RankedTensorType>(constant.getType());
  if (!value || !type.getElementType().isF32())
    return constant.emitError() << "expected a constant of one f32 value on a GPU";
  Value scalar = state.code.f32(static_cast<float>(*value));
  state.tiles[constant.getResult()].registers.assign(registersOf(state, type), scalar);
  return success();
}

static void lowerWidening(KernelState &state, arith::ExtFOp widen) {
  DeviceBuilder &code = state.code;
  const ThreadTile &source = state.tileOf(widen.getIn());
  ThreadTile result;
  result.shared = source.shared; // a `b` fragment: widened as it is read
  for (Value pair : source.registers)
    for (int64_t second = 0; second < 2; ++second)
      result.registers.push_back(
          arith::ExtFOp::create(code.builder, code.loc, code.builder.getF32Type(), code.element(pair, second)));
  state.tiles[widen.getOut()] = std::move(result);
}

static void lowerRounding(KernelState &state, arith::TruncFOp round) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(round.getOut().getType());
  SmallVector<Value> source = state.tileOf(round.getIn()).registers, result;
  auto pairType = VectorType::get({2}, type.getElementType());
  for (size_t i = 0; i + 1 < source.size(); i += 2)
    result.push_back(arith::TruncFOp::create(code.builder, code.loc, pairType, code.pair(source[i], source[i + 1])));
  state.tiles[round.getOut()].registers = std::move(result);
}

/// exp2 and log2 as the machine's own instructions: no call into a library.
static bool lowerApproximation(KernelState &state, Operation *op) {
  StringRef name = isa<math::Exp2Op>(op)   ? "llvm.nvvm.ex2.approx.ftz.f32"
                   : isa<math::Log2Op>(op) ? "llvm.nvvm.lg2.approx.ftz.f"
                                           : "";
  if (name.empty())
    return false;
  SmallVector<Value> source = state.tileOf(op->getOperand(0)).registers, result;
  for (Value value : source)
    result.push_back(state.code.intrinsic(name, value.getType(), value));
  state.tiles[op->getResult(0)].registers = std::move(result);
  return true;
}

/// The same operation on each register. Contraction is allowed: the sum of a product rounds once.
static void lowerEach(KernelState &state, Operation *op) {
  DeviceBuilder &code = state.code;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> result;
  for (int64_t i = 0, e = registersOf(state, type); i < e; ++i) {
    OperationState each(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      each.addOperands(isa<RankedTensorType>(operand.getType()) ? state.tileOf(operand).registers[i]
                                                                : state.scalar(operand));
    each.addTypes(type.getElementType());
    each.addAttributes(op->getAttrs());
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
      each.addAttribute("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract));
    result.push_back(code.builder.create(each)->getResult(0));
  }
  state.tiles[op->getResult(0)].registers = std::move(result);
}

LogicalResult device::lowerElementwise(KernelState &state, Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lowerConstant(state, constant);
  if (auto widen = dyn_cast<arith::ExtFOp>(op))
    return lowerWidening(state, widen), success();
  if (auto round = dyn_cast<arith::TruncFOp>(op))
    return lowerRounding(state, round), success();
  if (lowerApproximation(state, op))
    return success();
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
           arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp>(op))
    return op->emitError() << "expected arithmetic that a GPU kernel can do on f32 tiles, but got " << op->getName();
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType());
        type && !type.getElementType().isF32() && !type.getElementType().isInteger(1))
      return op->emitError() << "expected f32 tiles, but got " << type << "; widen the operands first";
  return lowerEach(state, op), success();
}
