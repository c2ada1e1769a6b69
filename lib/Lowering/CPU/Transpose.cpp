//===- Transpose.cpp - Transposes in registers ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of n × n elements is read in quarters of vectors of 512 bits, halves of 256: vector r of strip c has columns
// 4 c … 4 c + 3 of the rows r, r + 4, r + 8 …, one behind the other. A part that is inserted from memory takes either
// of two ports, a shuffle only one. What is left is to transpose 4 × 4 elements in each of the parts: two rounds, of
// which round s swaps bit s of the vector's number with bit s of the lane's number, for every element, by one shuffle
// of two vectors a result.
//
// The last rows that are only a few go element by element.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Elements of a part of 128 bits.
static constexpr int64_t partSize = 4;

/// Four vectors, each of which has elements of its own in place of those of the other three.
static SmallVector<Value> transposeParts(Emit &emit, SmallVector<Value> rows) {
  int64_t lanes = emit.lanes();
  for (int64_t bit = 1; bit < partSize; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      low.push_back(lane & bit ? lanes + (lane ^ bit) : lane);
      high.push_back(lane & bit ? lanes + lane : lane | bit);
    }
    for (int64_t row = 0; row < partSize; ++row)
      if (!(row & bit)) {
        Value a = rows[row], b = rows[row | bit];
        rows[row] = emit.shuffle(a, b, low);
        rows[row | bit] = emit.shuffle(a, b, high);
      }
  }
  return rows;
}

namespace {
/// A buffer and its transpose. Elements of the target are `units` of those by which the source is addressed.
struct Transposition {
  Emit &emit;
  Buffer source, target;
  int64_t units;

  Type f32() const { return emit.getF32Type(); }
  Value from(Value row, Value column) const {
    Value place = emit.add(emit.mul(row, source.stride), emit.mul(column, units));
    return emit.offset(source.pointer, place, units == 1 ? f32() : Type(emit.getI16Type()));
  }
  Value to(Value row, Value column) const {
    return emit.offset(target.pointer, emit.add(emit.mul(row, target.stride), column), f32());
  }
  Value parts(Value row, Value column) const;
  void block(Value row, Value column) const;
  void elements(Value row, int64_t columns) const;
};
} // namespace

/// Four columns of every fourth row.
Value Transposition::parts(Value row, Value column) const {
  auto type = VectorType::get({partSize}, f32());
  SmallVector<Value> read;
  for (int64_t i = 0; i < emit.lanes(); i += partSize)
    read.push_back(emit.load(from(emit.add(row, i), column), type, 4 / units));
  while (read.size() > 1) {
    SmallVector<Value> joined;
    int64_t size = cast<VectorType>(read[0].getType()).getNumElements();
    auto both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * size));
    for (size_t i = 0; i < read.size(); i += 2)
      joined.push_back(emit.shuffle(read[i], read[i + 1], both));
    read = std::move(joined);
  }
  return read[0];
}

void Transposition::block(Value row, Value column) const {
  for (int64_t strip = 0; strip < emit.lanes(); strip += partSize) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < partSize; ++i)
      rows.push_back(parts(emit.add(row, i), emit.add(column, strip)));
    for (auto [i, vector] : llvm::enumerate(transposeParts(emit, rows)))
      emit.store(vector, to(emit.add(column, strip + static_cast<int64_t>(i)), row));
  }
}

/// A row, of which LLVM unrolls what is worth it.
void Transposition::elements(Value row, int64_t columns) const {
  emit.loop(emit.constant(0), emit.constant(columns), 1,
            [&](Value column) { emit.store(emit.load(from(row, column), f32(), 4 / units), to(column, row)); });
}

static void transposeTiles(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target,
                           int64_t units) {
  Emit &emit = state.emit;
  Transposition tiles{emit, source, target, units};
  int64_t lanes = emit.lanes(), few = outer % lanes <= lanes / 8 ? outer % lanes : 0, last = outer - few;
  emit.loop(emit.constant(0), emit.constant(roundUp(last, lanes)), lanes, [&](Value row) {
    emit.loop(emit.constant(0), emit.constant(roundUp(inner, lanes)), lanes,
              [&](Value column) { tiles.block(row, column); });
  });
  for (int64_t row = last; row < outer; ++row)
    tiles.elements(emit.constant(row), inner);
}

void cpu::emitTranspose(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target) {
  transposeTiles(state, source, outer, inner, target, 1);
}

void cpu::emitTransposeOfPairs(KernelState &state, Buffer source, int64_t outer, int64_t inner, Buffer target) {
  transposeTiles(state, source, outer, inner, target, 2);
}
