//===- Slots.cpp - Arguments as arrays of slots, scalar arithmetic -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Slots.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

int64_t cpu::slotCount(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  return memory ? 1 + 2 * memory.getRank() : 1;
}

static Value readSlot(Emit &emit, Value slots, int64_t slot, Type type) {
  return emit.load(emit.offset(slots, slot * 8), type, 8);
}

static Memory readMemory(Emit &emit, Value slots, int64_t slot, MemRefType type) {
  Memory memory{readSlot(emit, slots, slot, emit.pointerType()), {}, {}, type};
  int64_t rank = type.getRank(), offset;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  for (int64_t i = 0; i < rank; ++i) {
    memory.sizes.push_back(type.isDynamicDim(i) ? readSlot(emit, slots, slot + 1 + i, emit.getI64Type())
                                                : emit.constant(type.getDimSize(i)));
    memory.strides.push_back(ShapedType::isDynamic(strides[i])
                                 ? readSlot(emit, slots, slot + 1 + rank + i, emit.getI64Type())
                                 : emit.constant(strides[i]));
  }
  return memory;
}

void cpu::readSlots(Emit &emit, Value slots, ValueRange arguments, IRMapping &scalars,
                    llvm::DenseMap<Value, Memory> &memories) {
  int64_t slot = 0;
  for (Value argument : arguments) {
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      memories[argument] = readMemory(emit, slots, slot, type);
    else
      scalars.map(argument,
                  readSlot(emit, slots, slot, argument.getType().isIndex() ? emit.getI64Type() : argument.getType()));
    slot += slotCount(argument.getType());
  }
}

//===----------------------------------------------------------------------===//
// Scalar arithmetic
//===----------------------------------------------------------------------===//

/// ⌊a / b⌋ of signed numbers.
static Value floorDivide(Emit &emit, Value a, Value b) {
  Value quotient = arith::DivSIOp::create(emit, a, b), rest = arith::RemSIOp::create(emit, a, b);
  Value zero = emit.constant(0);
  Value inexact = arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, rest, zero);
  Value differ = arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, emit.less(rest, zero), emit.less(b, zero));
  return emit.select(arith::AndIOp::create(emit, inexact, differ), emit.sub(quotient, emit.constant(1)), quotient);
}

static Value convertIndex(Emit &emit, Value value, Type to) {
  Type target = to.isIndex() ? emit.getI64Type() : to;
  unsigned from = value.getType().getIntOrFloatBitWidth(), width = target.getIntOrFloatBitWidth();
  if (from == width)
    return value;
  return from < width ? arith::ExtSIOp::create(emit, target, value).getResult()
                      : arith::TruncIOp::create(emit, target, value).getResult();
}

static Value loadScalar(Emit &emit, memref::LoadOp load, const IRMapping &scalars, const Memory &memory) {
  Value position = emit.constant(0);
  for (auto [index, stride] : llvm::zip_equal(load.getIndices(), memory.strides))
    position = emit.add(position, emit.mul(scalars.lookup(index), stride));
  Type element = memory.type.getElementType();
  return emit.load(emit.offset(memory.pointer, position, element), element, element.getIntOrFloatBitWidth() / 8);
}

/// The same op on i64 where it was on index.
static void cloneScalar(Emit &emit, Operation *op, IRMapping &scalars) {
  OperationState state(emit.getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(scalars.lookup(operand));
  for (Type type : op->getResultTypes())
    state.addTypes(type.isIndex() ? emit.getI64Type() : type);
  for (NamedAttribute attribute : op->getAttrs()) {
    auto integer = dyn_cast<IntegerAttr>(attribute.getValue());
    bool index = integer && integer.getType().isIndex();
    state.addAttribute(attribute.getName(),
                       index ? Attribute(emit.getI64IntegerAttr(integer.getInt())) : attribute.getValue());
  }
  Operation *clone = emit.create(state);
  scalars.map(op->getResults(), clone->getResults());
}

/// Dimensions that lie one after another without gaps, taken as one: its size is their product, its stride the last one's.
static Memory collapse(Emit &emit, memref::CollapseShapeOp op, const Memory &source) {
  Memory result{source.pointer, {}, {}, op.getResultType()};
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    Value size = source.sizes[group.front()];
    for (int64_t dimension : group.drop_front())
      size = emit.mul(size, source.sizes[dimension]);
    result.sizes.push_back(size);
    result.strides.push_back(source.strides[group.back()]);
  }
  return result;
}

LogicalResult cpu::emitScalar(Emit &emit, Operation *op, IRMapping &scalars, llvm::DenseMap<Value, Memory> &memories) {
  auto set = [&](Value value) { scalars.map(op->getResult(0), value); };
  auto operand = [&](unsigned i) { return scalars.lookup(op->getOperand(i)); };
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto position = dim.getConstantIndex();
    if (!position)
      return op->emitOpError() << "expected a constant dimension";
    set(memories.lookup(dim.getSource()).sizes[*position]);
  } else if (auto reshape = dyn_cast<memref::CollapseShapeOp>(op)) {
    Memory result = collapse(emit, reshape, memories.lookup(reshape.getSrc()));
    memories[reshape.getResult()] = result;
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    set(loadScalar(emit, load, scalars, memories.lookup(load.getMemRef())));
  } else if (isa<arith::IndexCastOp>(op)) {
    set(convertIndex(emit, operand(0), op->getResult(0).getType()));
  } else if (isa<arith::FloorDivSIOp>(op)) {
    set(floorDivide(emit, operand(0), operand(1)));
  } else if (isa<arith::CeilDivSIOp>(op)) {
    Value zero = emit.constant(0);
    set(emit.sub(zero, floorDivide(emit, emit.sub(zero, operand(0)), operand(1))));
  } else if (isa<arith::CeilDivUIOp>(op)) {
    // Sizes of a run are far from 2⁶³, and those that its workspace may come to saturate: the sum does not wrap.
    set(arith::DivUIOp::create(emit, emit.add(operand(0), emit.sub(operand(1), emit.constant(1))), operand(1)));
  } else if (emit.saturates && isa<arith::MulIOp>(op) && op->getResult(0).getType().isIndex()) {
    set(emit.mul(operand(0), operand(1)));
  } else if (emit.saturates && isa<arith::AddIOp>(op) && op->getResult(0).getType().isIndex()) {
    set(emit.add(operand(0), operand(1)));
  } else if (isa<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0) {
    cloneScalar(emit, op, scalars);
  } else {
    return op->emitOpError() << "expected scalar arithmetic of arith, memref.dim, memref.load or memref.collapse_shape";
  }
  return success();
}
