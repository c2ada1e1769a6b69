//===- DeviceBuilder.h - Short names for the code of one thread -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_DEVICEBUILDER_H
#define ATTUNE_LIB_LOWERING_GPU_DEVICEBUILDER_H

#include "mlir/IR/Builders.h"

namespace attune::device {

/// Builds scalar code. Integers are i32 (within a tile) or i64 (in global memory); constants fold as they are built.
class DeviceBuilder {
public:
  DeviceBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  using Value = mlir::Value;
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value truth(bool value);

  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return mul(a, like(a, b)); }
  Value add(Value a, int64_t b) { return add(a, like(a, b)); }
  /// Of numbers that are not negative.
  Value div(Value a, int64_t b);
  Value rem(Value a, int64_t b);
  Value exclusiveOr(Value a, Value b);
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value less(Value a, Value b);
  Value equal(Value a, int64_t b);
  Value smaller(Value a, Value b);
  Value larger(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value widen(Value i32Value);
  /// An i64 brought into ±2^30 and to i32.
  Value clampToI32(Value i64Value);

  /// `pointer` + `bytes` (i32 or i64).
  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int64_t bytes);
  Value load(mlir::Type type, Value pointer, unsigned alignment);
  void store(Value value, Value pointer, unsigned alignment);

  Value pair(Value first, Value second);
  Value element(Value vector, int64_t position);
  Value zero(mlir::Type type);
  Value bitcast(Value value, mlir::Type type);
  /// A call of an LLVM intrinsic by name.
  Value intrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments);
  Value exchange(Value value, int64_t laneMask); ///< shuffle: the value of lane ^ laneMask
  Value fromLane(Value value, Value lane);        ///< shuffle: the value of that lane
  void barrier();
  /// What this thread has written to shared memory is there for what reads it by itself, once others have seen it.
  void fenceForProducts();

  void ifThen(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// for (i = first; i < end; i += step), i32.
  void loop(Value first, int64_t end, int64_t step, llvm::function_ref<void(Value)> body);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  Value like(Value a, int64_t value);
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_DEVICEBUILDER_H
