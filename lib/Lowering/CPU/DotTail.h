//===- DotTail.h - The few rows of a dot that fill no vector -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With vectors along the rows of the result, 49 rows are three vectors and one row: a fourth vector would compute fifteen
// rows that nobody reads. The last rows are products of whole rows of both operands instead, vectors along the depth.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_DOTTAIL_H
#define ATTUNE_LOWERING_CPU_DOTTAIL_H

#include "KernelState.h"

namespace attune::cpu {

/// The rows of a dot's result that are computed one by one; 0 if whole vectors are better, or an operand has no rows
/// along the depth.
int64_t tailRows(KernelState &state, tile::DotOp dot);

/// What one such row needs.
struct DotTail {
  Value row;              ///< of the first operand
  int64_t depth;          ///< whole vectors
  int64_t others;         ///< rows of the second operand
  Value result;           ///< of row 0
  int64_t resultStep;     ///< from row to row of it
  function_ref<Value(Value)> otherRow; ///< where a row of the second operand begins

  void emit(Emit &emit) const;
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_DOTTAIL_H
