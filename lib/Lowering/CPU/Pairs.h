//===- Pairs.h - Operands as pairs of bf16 numbers ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_PAIRS_H
#define ATTUNE_LOWERING_CPU_PAIRS_H

#include "KernelState.h"

namespace attune::cpu {

/// An operand that is read number by number: number or pair k of index i lies at i * step + k * innerStep. Of pairs the
/// steps count bf16 numbers.
struct ScalarOperand {
  Value pointer, step, innerStep;
  Fold fold = {}; ///< of its rows
  FoldPlace place = {};
};

/// Whether the use is an operand of a dot that multiplies pairs of bf16 numbers.
bool readsPairs(OpOperand &use, const Isa &isa);
/// Whether the dot reads pairs of many rows of the tile at once, where the tile lies.
bool readsRowsOfPairs(OpOperand &use, const Isa &isa);
/// The operand in a form that its dot can read as numbers to broadcast; made now if need be.
ScalarOperand requirePairs(KernelState &state, OpOperand &use);
/// The operand as vectors of pairs, [depth / 2][other dimension]; its stride counts pairs.
Buffer requireVectorPairs(KernelState &state, OpOperand &use);
/// Makes now what either of them will find.
void providePairs(KernelState &state, OpOperand &use);
/// sum + a.low · b.low + a.high · b.high for vectors a and b of pairs as i32.
Value addProductsOfPairs(Emit &emit, Value sum, Value a, Value b);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_PAIRS_H
