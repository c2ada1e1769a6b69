//===- Emit.cpp - Short names for emitting loops over vectors ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Emit.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

FailureOr<SmallVector<const Isa *>> cpu::findIsas(ModuleOp module, ArrayRef<std::string> names) {
  if (names.empty())
    return SmallVector<const Isa *>{findIsa("avx2"), findIsa("avx512")};
  SmallVector<const Isa *> result;
  for (const std::string &name : names) {
    const Isa *isa = findIsa(name);
    if (!isa)
      return module.emitError() << "expected instruction set avx2, avx512, avx512_bf16 or amx, but got '" << name << "'";
    result.push_back(isa);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static constexpr int64_t largest = std::numeric_limits<int64_t>::max();

std::optional<int64_t> Emit::known(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value Emit::constant(int64_t value) { return arith::ConstantOp::create(*this, getI64IntegerAttr(value)); }

Value Emit::add(Value a, Value b) {
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(saturates ? llvm::checkedAdd(*x, *y).value_or(largest) : *x + *y);
  if (x && *x == 0)
    return b;
  if (y && *y == 0)
    return a;
  return saturates ? LLVM::SAddSat::create(*this, a, b).getResult() : arith::AddIOp::create(*this, a, b).getResult();
}

Value Emit::sub(Value a, Value b) {
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(*x - *y);
  return y && *y == 0 ? a : arith::SubIOp::create(*this, a, b).getResult();
}

Value Emit::mul(Value a, Value b) {
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(saturates ? llvm::checkedMul(*x, *y).value_or(largest) : *x * *y);
  if ((x && *x == 0) || (y && *y == 0))
    return constant(0);
  if (x && *x == 1)
    return b;
  if (y && *y == 1)
    return a;
  return saturates ? saturatingProduct(a, b) : arith::MulIOp::create(*this, a, b).getResult();
}

/// Of sizes, none of which is negative.
Value Emit::saturatingProduct(Value a, Value b) {
  auto type = LLVM::LLVMStructType::getLiteral(getContext(), {getI64Type(), getI1Type()});
  Value both = LLVM::SMulWithOverflowOp::create(*this, type, a, b);
  Value product = LLVM::ExtractValueOp::create(*this, both, 0), overflows = LLVM::ExtractValueOp::create(*this, both, 1);
  return select(overflows, constant(largest), product);
}

Value Emit::min(Value a, Value b) {
  auto x = known(a), y = known(b);
  return x && y ? constant(std::min(*x, *y)) : arith::MinSIOp::create(*this, a, b).getResult();
}

Value Emit::max(Value a, Value b) {
  auto x = known(a), y = known(b);
  return x && y ? constant(std::max(*x, *y)) : arith::MaxSIOp::create(*this, a, b).getResult();
}

Value Emit::less(Value a, Value b) { return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, a, b); }

Value Emit::select(Value condition, Value a, Value b) { return arith::SelectOp::create(*this, condition, a, b); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emit::offset(Value pointer, Value elements, Type element) {
  if (known(elements) == 0)
    return pointer;
  return LLVM::GEPOp::create(*this, pointerType(), element, pointer, ArrayRef<LLVM::GEPArg>{elements});
}

Value Emit::offset(Value pointer, int64_t bytes) { return offset(pointer, constant(bytes), getI8Type()); }

Value Emit::load(Value pointer, Type type, int64_t align) { return LLVM::LoadOp::create(*this, type, pointer, align); }

void Emit::store(Value value, Value pointer, int64_t align) { LLVM::StoreOp::create(*this, value, pointer, align); }

Value Emit::maskedLoad(Value pointer, Value mask, VectorType type) {
  Value zero = arith::ConstantOp::create(*this, cast<TypedAttr>(getZeroAttr(type)));
  return LLVM::MaskedLoadOp::create(*this, type, pointer, mask, zero, type.getElementTypeBitWidth() / 8);
}

void Emit::maskedStore(Value value, Value pointer, Value mask) {
  auto type = cast<VectorType>(value.getType());
  LLVM::MaskedStoreOp::create(*this, value, pointer, mask, type.getElementTypeBitWidth() / 8);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value Emit::splat(double value) {
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(floats(), static_cast<float>(value)));
}

Value Emit::number(int32_t value) { return arith::ConstantOp::create(*this, getI32IntegerAttr(value)); }

Value Emit::splat(Value scalar) { return vector::BroadcastOp::create(*this, vectorOf(scalar.getType()), scalar); }

Value Emit::lanesBelow(Value bound) {
  if (auto value = known(bound))
    return lanesBelow(*value);
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    numbers.push_back(lane);
  auto type = vectorOf(getI32Type());
  Value iota = arith::ConstantOp::create(*this, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value clamped = max(min(bound, constant(lanes())), constant(0));
  Value narrow = arith::TruncIOp::create(*this, getI32Type(), clamped);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, iota, splat(narrow));
}

Value Emit::lanesBelow(int64_t bound) {
  SmallVector<bool> mask;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    mask.push_back(lane < bound);
  return arith::ConstantOp::create(*this, DenseElementsAttr::get(vectorOf(getI1Type()), ArrayRef<bool>(mask)));
}

Value Emit::shuffle(Value a, Value b, ArrayRef<int64_t> mask) { return vector::ShuffleOp::create(*this, a, b, mask); }

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> Emit::loop(Value lower, Value upper, int64_t step, ValueRange inits,
                              function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto from = known(lower), to = known(upper);
  if (from && to && *to > *from && *to - *from <= step)
    return body(lower, inits);
  if (from && to && *to <= *from)
    return SmallVector<Value>(inits);
  auto op = scf::ForOp::create(*this, lower, upper, constant(step), inits);
  {
    InsertionGuard guard(*this);
    setInsertionPointToStart(op.getBody());
    SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
    // Without carried values the builder has made the terminator.
    if (!inits.empty())
      scf::YieldOp::create(*this, next);
  }
  return SmallVector<Value>(op.getResults());
}

void Emit::loop(Value lower, Value upper, int64_t step, function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

LLVM::LLVMFuncOp Emit::function(ModuleOp module, StringRef name, ArrayRef<Type> arguments, Type result) {
  InsertionGuard guard(*this);
  setInsertionPointToEnd(module.getBody());
  MLIRContext *context = getContext();
  auto type = LLVM::LLVMFunctionType::get(result ? result : LLVM::LLVMVoidType::get(context), arguments);
  auto op = LLVM::LLVMFuncOp::create(*this, name, type);
  op.setTargetCpu(isa.cpu);
  op.setTargetFeaturesAttr(LLVM::TargetFeaturesAttr::get(context, isa.features));
  // Without it LLVM splits vectors of 512 bits for processors on which they once lowered the clock.
  op.setPreferVectorWidth("512");
  op.addEntryBlock(*this);
  return op;
}

LLVM::LLVMFuncOp Emit::callee(ModuleOp module, StringRef name, ArrayRef<Type> arguments) {
  LLVM::LLVMFuncOp op = function(module, name, arguments);
  op.setLinkage(LLVM::Linkage::Internal);
  op.setNoInline(true);
  setInsertionPointToStart(&op.getBody().front());
  return op;
}
