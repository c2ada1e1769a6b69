//===- Emit.h - Short names for emitting loops over vectors --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_EMIT_H
#define ATTUNE_LOWERING_CPU_EMIT_H

#include "Isa.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attune::cpu {

using namespace mlir;

/// The instruction sets of these names, all of them for no names; reports an unknown one.
FailureOr<SmallVector<const Isa *>> findIsas(ModuleOp module, ArrayRef<std::string> names);

/// Rounds up to a multiple.
inline int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// A builder of scalar i64 arithmetic, vectors of one register and `scf` loops. Constants fold as they are built.
class Emit : public ImplicitLocOpBuilder {
public:
  Emit(Location loc, OpBuilder at, const Isa &isa) : ImplicitLocOpBuilder(loc, at), isa(isa) {}

  const Isa &isa;
  /// Sums and products of scalars end at the largest number instead of wrapping around.
  bool saturates = false;
  int64_t lanes() const { return isa.lanes; }
  VectorType vectorOf(Type element) { return VectorType::get({lanes()}, element); }
  VectorType floats() { return vectorOf(getF32Type()); }
  LLVM::LLVMPointerType pointerType() { return LLVM::LLVMPointerType::get(getContext()); }

  // Scalars of type i64.
  Value constant(int64_t value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, constant(b)); }
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return mul(a, constant(b)); }
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value less(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// The value if it is known now.
  static std::optional<int64_t> known(Value value);

  // Memory.
  Value offset(Value pointer, Value elements, Type element);
  Value offset(Value pointer, int64_t bytes);
  Value load(Value pointer, Type type, int64_t align = 4);
  void store(Value value, Value pointer, int64_t align = 4);
  Value maskedLoad(Value pointer, Value mask, VectorType type);
  void maskedStore(Value value, Value pointer, Value mask);

  // Vectors.
  Value splat(double value);
  Value splat(Value scalar);
  Value number(int32_t value); ///< a scalar i32
  /// lane < bound, with the bound an i64 scalar of any size.
  Value lanesBelow(Value bound);
  /// lane < bound for a known bound.
  Value lanesBelow(int64_t bound);
  Value shuffle(Value a, Value b, ArrayRef<int64_t> mask);

  /// for i = lower; i < upper; i += step; straight-line code if there is exactly one step.
  SmallVector<Value> loop(Value lower, Value upper, int64_t step, ValueRange inits,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body);
  void loop(Value lower, Value upper, int64_t step, function_ref<void(Value)> body);

  /// A product that ends at the largest number.
  Value saturatingProduct(Value a, Value b);

  /// A function of the module with the attributes of the instruction set, and an entry block; the builder stays.
  LLVM::LLVMFuncOp function(ModuleOp module, StringRef name, ArrayRef<Type> arguments, Type result = Type());
  /// The same of one that only functions of the module call, and that is not inlined there; the builder goes to its start.
  LLVM::LLVMFuncOp callee(ModuleOp module, StringRef name, ArrayRef<Type> arguments);
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_EMIT_H
