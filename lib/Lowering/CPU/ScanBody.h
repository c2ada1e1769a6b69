//===- ScanBody.h - What bodies of scans' functions share -*- C++ -*--------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_SCANBODY_H
#define ATTUNE_LOWERING_CPU_SCANBODY_H

#include "Scan.h"

namespace attune::cpu {

/// The operands of a scan's function, and what it reads of them.
struct ScanBody {
  ScanBody(Emit &emit, const ScanShape &shape) : emit(emit), shape(shape) {}

  Value place(ScanShape::Operand of, Value row, Value column) {
    return emit.offset(pointers[of], emit.add(emit.mul(row, steps[of]), column), emit.getF32Type());
  }
  Value vectorAt(ScanShape::Operand of, Value row, Value column, int64_t vector) {
    return emit.load(place(of, row, emit.add(column, vector * emit.lanes())), emit.floats());
  }
  Value numberAt(ScanShape::Operand of, Value row, Value column, int64_t number) {
    return emit.splat(emit.load(place(of, row, emit.add(column, number)), emit.getF32Type()));
  }
  /// Emits `strip` for each strip of so many vectors of columns, and for what is left of them.
  void strips(int64_t vectors, llvm::function_ref<void(Value column, int64_t vectors)> strip);
  /// Rows of a tile in memory.
  struct Rows {
    Value base, rowBytes;
  };
  /// Takes S of the next program out of what is fetched, if it is there.
  void takeNextState();
  /// Fetches the share of one of so many blocks in that, and in the rest.
  void fetchNextState(Value block, int64_t blocks);
  void fetchAll(Value block, int64_t blocks);
  /// Into the first-level cache, or the second-level one. Past the end of a memory this does nothing.
  void prefetch(Value base, Value bytes, bool intoFirst);

  Emit &emit;
  ScanShape shape;
  std::array<Value, ScanShape::NumOperands> pointers = {}, steps = {};
  SmallVector<FetchPlace, 2> fetches = {};
  std::optional<Rows> nextState;
  /// Where that goes into the first-level cache, which waits for few lines at a time: the one behind it, as far on, which the second-level cache has then.
  Value afterNext;
};

/// Emits the body of a scan that erases.
void emitErasingScan(const ScanBody &operands);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_SCANBODY_H
