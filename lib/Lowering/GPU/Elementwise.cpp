//===- Elementwise.cpp - Arithmetic on the registers of a thread ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands and result of an elementwise operation lie alike, so it is one operation for each element that a thread has.
// Tiles of 16-bit elements are only widened and rounded.
//
//===----------------------------------------------------------------------===//
#include "ElementRun.h"
#include "Functions.h"
#include "Places.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

static Type elementOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getElementType(); }

static void lowerWidening(KernelState &state, arith::ExtFOp widen) {
  DeviceBuilder &code = state.code;
  ThreadTile result;
  result.shared = state.tileOf(widen.getIn()).shared; // a `b` fragment: widened as it is read
  if (!result.shared)
    for (Value element : elementsOf(state, widen.getIn()))
      result.registers.push_back(arith::ExtFOp::create(code.builder, code.loc, code.builder.getF32Type(), element));
  state.tiles[widen.getOut()] = std::move(result);
}

/// Two elements are rounded at once.
static void lowerRounding(KernelState &state, arith::TruncFOp round) {
  DeviceBuilder &code = state.code;
  SmallVector<Value> source = state.tileOf(round.getIn()).registers, result;
  auto pairType = VectorType::get({2}, elementOf(round.getOut()));
  for (size_t i = 0; i + 1 < source.size(); i += 2)
    result.push_back(arith::TruncFOp::create(code.builder, code.loc, pairType, code.pair(source[i], source[i + 1])));
  state.tiles[round.getOut()].registers = std::move(result);
}

/// base + place as i32, or as f32.
static void lowerIota(KernelState &state, tile::IotaOp iota) {
  DeviceBuilder &code = state.code;
  OpBuilder &builder = code.builder;
  tile::SliceLayout layout = sliceLayout(iota.getResult());
  Value base = arith::TruncIOp::create(builder, code.loc, builder.getI32Type(), state.scalar(iota.getBase()));
  SmallVector<Value> result;
  for (int64_t i = 0; i < layout.registers(); ++i) {
    Value number = code.add(slicePlace(state, layout, i), base);
    if (elementOf(iota.getResult()).isF32())
      number = arith::SIToFPOp::create(builder, code.loc, builder.getF32Type(), number);
    result.push_back(number);
  }
  state.tiles[iota.getResult()].registers = std::move(result);
}

/// The operation on single elements.
static Value lowerElement(KernelState &state, Operation *op, ValueRange operands) {
  DeviceBuilder &code = state.code;
  if (Value function = emitFunction(code, op, operands))
    return function;
  OperationState each(op->getLoc(), op->getName());
  each.addOperands(operands);
  each.addTypes(elementOf(op->getResult(0)));
  each.addAttributes(op->getAttrs());
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    each.addAttribute("fastmath", arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract));
  return code.builder.create(each)->getResult(0);
}

static void lowerEach(KernelState &state, Operation *op) {
  SmallVector<Value> result;
  for (int64_t i = 0, e = elementCount(cast<RankedTensorType>(op->getResult(0).getType())); i < e; ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType()) ? state.tileOf(operand).registers[i]
                                                                  : state.scalar(operand));
    result.push_back(lowerElement(state, op, operands));
  }
  state.tiles[op->getResult(0)].registers = std::move(result);
}

static bool isArithmetic(Operation *op) {
  return isFunction(op) ||
         isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp>(op) ||
         isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::CmpIOp,
             arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp>(op);
}

/// Rounded tiles are operands of products only; arithmetic on them has no meaning here.
static bool takesF32(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), [](Type operand) {
    auto tile = dyn_cast<RankedTensorType>(operand);
    return !tile || !isa<FloatType>(tile.getElementType()) || tile.getElementType().isF32();
  });
}

//===----------------------------------------------------------------------===//
// Element after element
//===----------------------------------------------------------------------===//

static bool isOnFragments(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && isa_and_nonnull<tile::FragmentAttr>(type.getEncoding());
}

bool ElementRun::take(Operation *op) {
  if (op->getNumResults() != 1 || !isArithmetic(op) || !isOnFragments(op) || !takesF32(op))
    return false;
  int64_t count = elementCount(cast<RankedTensorType>(op->getResult(0).getType()));
  if (!ops.empty() && count != elements)
    flush();
  elements = count;
  ops.push_back(op);
  return true;
}

void ElementRun::flushBefore(Operation *op) {
  auto waits = [&](Value operand) { return llvm::is_contained(ops, operand.getDefiningOp()); };
  bool isLight = isa<arith::ConstantOp, tile::ExpandOp, tile::PermuteColumnsOp, tile::IotaOp>(op) ||
                 (op->getNumResults() == 1 && isArithmetic(op));
  if (!isLight || llvm::any_of(op->getOperands(), waits))
    flush();
}

void ElementRun::flush() {
  llvm::DenseMap<Value, SmallVector<Value>> results;
  for (int64_t i = 0; i < elements; ++i)
    for (Operation *op : ops) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        if (auto found = results.find(operand); found != results.end())
          operands.push_back(found->second[i]);
        else
          operands.push_back(isa<RankedTensorType>(operand.getType()) ? state.tileOf(operand).registers[i]
                                                                      : state.scalar(operand));
      Value element = lowerElement(state, op, operands);
      results[op->getResult(0)].push_back(element);
    }
  for (auto &[tile, registers] : results)
    state.tiles[tile].registers = std::move(registers);
  ops.clear();
  elements = 0;
}

LogicalResult device::lowerElementwise(KernelState &state, Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lowerConstant(state, constant);
  if (auto widen = dyn_cast<arith::ExtFOp>(op))
    return lowerWidening(state, widen), success();
  if (auto round = dyn_cast<arith::TruncFOp>(op))
    return lowerRounding(state, round), success();
  if (auto iota = dyn_cast<tile::IotaOp>(op))
    return lowerIota(state, iota), success();
  if (!isArithmetic(op))
    return op->emitError() << "expected arithmetic that a GPU kernel can do on tiles, but got " << op->getName();
  if (!takesF32(op))
    return op->emitError() << "expected f32 tiles, but got " << op->getOperand(0).getType() << "; widen the operands first";
  return lowerEach(state, op), success();
}
