//===- Slots.h - Arguments as arrays of slots ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_SLOTS_H
#define ATTUNE_LOWERING_CPU_SLOTS_H

#include "Emit.h"

#include "mlir/IR/IRMapping.h"

namespace attune::cpu {

/// A memory as scalars: its first element, and sizes and strides in elements; known ones are constants.
struct Memory {
  Value pointer;
  SmallVector<Value> sizes, strides;
  MemRefType type;
};

/// The slots of 8 bytes that an argument takes: pointer, sizes, strides; or one scalar.
int64_t slotCount(Type type);

/// Reads arguments of these types, in order, from `slots`: memories into `memories`, scalars into `scalars`.
void readSlots(Emit &emit, Value slots, ValueRange arguments, IRMapping &scalars,
               llvm::DenseMap<Value, Memory> &memories);

/// Lowers an op on index values and scalars; index becomes i64.
LogicalResult emitScalar(Emit &emit, Operation *op, IRMapping &scalars, llvm::DenseMap<Value, Memory> &memories);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_SLOTS_H
