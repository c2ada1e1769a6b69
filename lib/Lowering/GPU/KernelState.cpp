//===- KernelState.cpp - What is known while a kernel is lowered ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "Warpgroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

KernelState::KernelState(tile::KernelOp kernel, OpBuilder &builder)
    : kernel(kernel), code(builder, kernel.getLoc()), grid(kernel.getSchedule()->getWarpGrid()),
      stages(kernel.getSchedule()->getStages()) {
  llvm::DenseSet<Value> loaded, stored;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      loaded.insert(rootOf(load.getSource()));
    if (auto store = dyn_cast<tile::StoreOp>(op))
      stored.insert(rootOf(store.getTarget()));
  });
  for (Value memory : stored)
    if (loaded.contains(memory))
      exchanged.insert(memory);
  if (hasPanels(kernel))
    sharedUse.readByProducts();
}

Value KernelState::rootOf(Value memory) {
  while (auto reshape = memory.getDefiningOp<memref::CollapseShapeOp>())
    memory = reshape.getSrc();
  return memory;
}

SharedTile KernelState::newSharedTile(tile::SharedAttr attr, Type element, int64_t copies) {
  tile::SharedLayout layout(attr, element);
  SharedBuffer buffer = sharedUse.allocate(llvm::alignTo(layout.bytes(), layout.alignment) * copies, layout.alignment);
  return {sharedBase, buffer.begin, layout, element, buffer.id};
}

bool KernelState::isShared(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  return type && isa_and_nonnull<tile::SharedAttr>(type.getEncoding());
}

/// Do several warps share what is reduced?
static bool isReducedByWarps(tile::ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  tile::WarpGrid warps = cast<tile::FragmentAttr>(source.getEncoding()).getWarps();
  return (reduce.getAxis() == 0 ? warps.rows : warps.columns) > 1;
}

bool KernelState::needsBarriers(Operation *op) const {
  WalkResult result = op->walk([&](Operation *inner) {
    auto reduce = dyn_cast<tile::ReduceOp>(inner);
    auto load = dyn_cast<tile::LoadOp>(inner);
    auto store = dyn_cast<tile::StoreOp>(inner);
    auto convert = dyn_cast<tile::ConvertLayoutOp>(inner);
    bool meets = (reduce && isReducedByWarps(reduce)) || isa<tile::DotOp>(inner) ||
                 llvm::any_of(inner->getOperands(), isShared) || llvm::any_of(inner->getResults(), isShared) || (load && isExchanged(load.getSource())) ||
                 (store && isExchanged(store.getTarget())) ||
                 (convert && isa<tile::SliceAttr>(cast<RankedTensorType>(convert.getType()).getEncoding()));
    return meets ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

tile::FragmentLayout KernelState::fragment(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  return {cast<tile::FragmentAttr>(type.getEncoding()), type.getShape()};
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Type threadType(Type type) {
  return type.isIndex() ? Type(IntegerType::get(type.getContext(), 64)) : type;
}

static Value sizeOf(KernelState &state, memref::DimOp dim) {
  auto type = cast<MemRefType>(dim.getSource().getType());
  APInt position;
  if (!matchPattern(dim.getIndex(), m_ConstantInt(&position)))
    return Value();
  int64_t size = type.getDimSize(position.getZExtValue());
  return ShapedType::isDynamic(size) ? state.memories[dim.getSource()].sizes[position.getZExtValue()]
                                     : state.code.i64(size);
}

static Value programId(KernelState &state, tile::ProgramIdOp op) {
  OpBuilder &builder = state.code.builder;
  Type i32 = builder.getI32Type();
  Value id;
  switch (*state.kernel.getGridPosition(op.getAxis())) {
  case 0:
    id = NVVM::BlockIdXOp::create(builder, op.getLoc(), i32);
    break;
  case 1:
    id = NVVM::BlockIdYOp::create(builder, op.getLoc(), i32);
    break;
  default:
    id = NVVM::BlockIdZOp::create(builder, op.getLoc(), i32);
  }
  return state.code.widen(id);
}

static Value elementOf(KernelState &state, memref::LoadOp load, llvm::DenseMap<Value, Value> &known) {
  const Memory &memory = state.memories[load.getMemRef()];
  DeviceBuilder &code = state.code;
  Value elements = code.i64(0);
  for (auto [index, stride] : llvm::zip_equal(load.getIndices(), memory.strides))
    elements = code.add(elements, code.mul(state.scalar(index, known), stride));
  unsigned bytes = memory.element.getIntOrFloatBitWidth() / 8;
  return code.load(memory.element, code.offset(memory.pointer, code.mul(elements, bytes)), bytes);
}

static Value indexCast(KernelState &state, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(state.code.builder, state.code.loc, to, value);
  return arith::TruncIOp::create(state.code.builder, state.code.loc, to, value);
}

/// The same operation of `arith` on i64 instead of index.
static Value retyped(KernelState &state, Operation *op, llvm::DenseMap<Value, Value> &known) {
  OperationState copy(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    copy.addOperands(state.scalar(operand, known));
  copy.addTypes(threadType(op->getResult(0).getType()));
  for (NamedAttribute attribute : op->getAttrs()) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    if (number && number.getType().isIndex())
      attribute.setValue(state.code.builder.getI64IntegerAttr(number.getInt()));
    copy.addAttribute(attribute.getName(), attribute.getValue());
  }
  return state.code.builder.create(copy)->getResult(0);
}

Value KernelState::scalar(Value value, llvm::DenseMap<Value, Value> &known) {
  if (Value found = known.lookup(value))
    return found;
  if (Value found = scalars.lookup(value))
    return found;
  Operation *op = value.getDefiningOp();
  Value result;
  if (auto dim = dyn_cast<memref::DimOp>(op))
    result = sizeOf(*this, dim);
  else if (auto id = dyn_cast<tile::ProgramIdOp>(op))
    result = programId(*this, id);
  else if (auto load = dyn_cast<memref::LoadOp>(op))
    result = elementOf(*this, load, known);
  else if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    result = indexCast(*this, scalar(cast.getIn(), known), threadType(cast.getType()));
  else
    result = retyped(*this, op, known);
  return known[value] = result;
}
