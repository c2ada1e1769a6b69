//===- DeviceBuilder.cpp - Short names for the code of one thread --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune::device;

Value DeviceBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}
Value DeviceBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}
Value DeviceBuilder::f32(double value) {
  return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
}
Value DeviceBuilder::truth(bool value) { return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value)); }
Value DeviceBuilder::like(Value a, int64_t value) { return a.getType().isInteger(64) ? i64(value) : i32(value); }

Value DeviceBuilder::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value DeviceBuilder::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value DeviceBuilder::mul(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
Value DeviceBuilder::div(Value a, int64_t b) { return builder.createOrFold<arith::DivUIOp>(loc, a, like(a, b)); }
Value DeviceBuilder::rem(Value a, int64_t b) { return builder.createOrFold<arith::RemUIOp>(loc, a, like(a, b)); }
Value DeviceBuilder::exclusiveOr(Value a, Value b) { return builder.createOrFold<arith::XOrIOp>(loc, a, b); }
Value DeviceBuilder::both(Value a, Value b) { return builder.createOrFold<arith::AndIOp>(loc, a, b); }
Value DeviceBuilder::either(Value a, Value b) { return builder.createOrFold<arith::OrIOp>(loc, a, b); }
Value DeviceBuilder::less(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b);
}
Value DeviceBuilder::equal(Value a, int64_t b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, like(a, b));
}
Value DeviceBuilder::smaller(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
Value DeviceBuilder::larger(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value DeviceBuilder::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value DeviceBuilder::widen(Value value) {
  return builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), value);
}
Value DeviceBuilder::clampToI32(Value value) {
  constexpr int64_t bound = int64_t(1) << 30;
  Value clamped = larger(smaller(value, i64(bound)), i64(-bound));
  return builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(), clamped);
}

Value DeviceBuilder::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value DeviceBuilder::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}
Value DeviceBuilder::load(Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment);
}
void DeviceBuilder::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

Value DeviceBuilder::pair(Value first, Value second) {
  Value vector = LLVM::UndefOp::create(builder, loc, VectorType::get({2}, first.getType()));
  vector = LLVM::InsertElementOp::create(builder, loc, vector, first, i32(0));
  return LLVM::InsertElementOp::create(builder, loc, vector, second, i32(1));
}
Value DeviceBuilder::element(Value vector, int64_t position) {
  return LLVM::ExtractElementOp::create(builder, loc, vector, i32(position));
}
Value DeviceBuilder::zero(Type type) { return LLVM::ZeroOp::create(builder, loc, type); }
Value DeviceBuilder::bitcast(Value value, Type type) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, loc, type, value).getResult();
}

Value DeviceBuilder::intrinsic(StringRef name, Type result, ValueRange arguments) {
  auto call = LLVM::CallIntrinsicOp::create(builder, loc, result, builder.getStringAttr(name), arguments);
  return call->getResult(0);
}

Value DeviceBuilder::exchange(Value value, int64_t laneMask) {
  return NVVM::ShflOp::create(builder, loc, value.getType(), i32(-1), value, i32(laneMask), i32(31),
                              NVVM::ShflKind::bfly, UnitAttr());
}

Value DeviceBuilder::fromLane(Value value, Value lane) {
  return NVVM::ShflOp::create(builder, loc, value.getType(), i32(-1), value, lane, i32(31), NVVM::ShflKind::idx,
                              UnitAttr());
}

void DeviceBuilder::barrier() { NVVM::BarrierOp::create(builder, loc); }

/// wgmma reads shared memory through the asynchronous proxy, for which a barrier does not order the stores of threads.
void DeviceBuilder::fenceForProducts() {
  MLIRContext *context = builder.getContext();
  NVVM::FenceProxyOp::create(builder, loc, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
                             NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

void DeviceBuilder::ifThen(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

void DeviceBuilder::loop(Value first, int64_t end, int64_t step, function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(builder, loc, first, i32(end), i32(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}
