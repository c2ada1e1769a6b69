//===- Transpose.cpp - Transposes in registers ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of n × n elements in n vectors is transposed in log₂ n rounds. Round s swaps bit s of the row's number with
// bit s of the lane's number, for every element, by one shuffle of two vectors a result.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

static SmallVector<Value> transposeBlock(Emit &emit, SmallVector<Value> rows) {
  int64_t lanes = emit.lanes();
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & bit ? lanes + (lane ^ bit) : lane);
      high.push_back(lane & bit ? lanes + lane : lane | bit);
    }
    for (int64_t row = 0; row < lanes; ++row)
      if (!(row & bit)) {
        Value a = rows[row], b = rows[row | bit];
        rows[row] = emit.shuffle(a, b, low);
        rows[row | bit] = emit.shuffle(a, b, high);
      }
  }
  return rows;
}

/// Elements of the target are `units` of those by which the source is addressed.
static void transposeTiles(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target,
                           int64_t units) {
  Emit &emit = state.emit;
  Type f32 = emit.getF32Type(), unit = units == 1 ? f32 : Type(emit.getI16Type());
  int64_t lanes = emit.lanes();
  emit.loop(emit.constant(0), emit.constant(roundUp(outer, lanes)), lanes, [&](Value i) {
    emit.loop(emit.constant(0), emit.constant(roundUp(inner, lanes)), lanes, [&](Value j) {
      SmallVector<Value> rows;
      for (int64_t row = 0; row < lanes; ++row) {
        Value place = emit.add(emit.mul(emit.add(i, row), source.stride), emit.mul(j, units));
        rows.push_back(emit.load(emit.offset(source.pointer, place, unit), emit.floats(), 4 / units));
      }
      rows = transposeBlock(emit, rows);
      for (int64_t row = 0; row < lanes; ++row) {
        Value place = emit.add(emit.mul(emit.add(j, row), target.stride), i);
        emit.store(rows[row], emit.offset(target.pointer, place, f32));
      }
    });
  });
}

void cpu::emitTranspose(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target) {
  transposeTiles(state, source, outer, inner, target, 1);
}

void cpu::emitTransposeOfPairs(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target) {
  transposeTiles(state, source, outer, inner, target, 2);
}
