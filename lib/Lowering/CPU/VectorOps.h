//===- VectorOps.h - Ops on one vector -----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_VECTOROPS_H
#define ATTUNE_LOWERING_CPU_VECTOROPS_H

#include "Emit.h"

#include "attune/Tile/Tile.h"

namespace attune::cpu {

/// The element type with which memory is read: bf16 as its bits.
Type storageOf(Type element);
/// A vector as read from memory to f32, and back with rounding to nearest even; i32 as it is.
Value toFloats(Emit &emit, Value value, Type element);
Value fromFloats(Emit &emit, Value value, Type element);
/// The same for bf16 by one instruction of a processor that has dot products of bf16: below 2⁻¹²⁶ it gives 0.
Value roundedToBf16(Emit &emit, Value value);
/// Truth values kept as f32 0 and 1 in the scratch.
Value asFloats(Emit &emit, Value mask);
Value isNotZero(Emit &emit, Value floats);
Value andNot(Emit &emit, Value a, Value b);

/// Whether `emitElementwise` knows the op: what it emits calls no library.
bool isElementwise(Operation *op);
/// An elementwise op on vectors; tiles of 16 bits are held as f32.
Value emitElementwise(Emit &emit, Operation *op, ValueRange operands);
/// sin(2π · turns), or the cosine.
Value emitSine(Emit &emit, Value turns, bool isCosine);
Value emitReduction(Emit &emit, tile::ReduceKind kind, Value a, Value b);
/// The reduction of a vector's lanes, as a scalar, halving the vector each time.
Value acrossLanes(Emit &emit, tile::ReduceKind kind, Value value);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_VECTOROPS_H
