//===- Pairs.cpp - Operands as pairs of bf16 numbers --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot product of bf16 numbers adds two products to each sum, so two numbers that are adjacent along the depth must be
// adjacent in memory. Where rows of memory lie along the depth they are: numbers that are broadcast are read where they
// are. What is read as vectors, and what lies across the depth, becomes [depth / 2][other dimension] pairs first.
//
//===----------------------------------------------------------------------===//
#include "Pairs.h"

#include "Amx.h"
#include "DotForms.h"
#include "VectorOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

bool cpu::readsPairs(OpOperand &use, const Isa &isa) {
  auto dot = dyn_cast<tile::DotOp>(use.getOwner());
  return dot && use.getOperandNumber() < 2 && takesPairs(dot, isa);
}

Value cpu::addProductsOfPairs(Emit &emit, Value sum, Value a, Value b) {
  auto type = VectorType::get({2 * emit.lanes()}, emit.getBF16Type());
  Value x = LLVM::BitcastOp::create(emit, type, a), y = LLVM::BitcastOp::create(emit, type, b);
  StringAttr name = emit.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
  return LLVM::CallIntrinsicOp::create(emit, emit.floats(), name, ValueRange{sum, x, y}).getResult(0);
}

/// Rows 2k and 2k + 1 of `depth` rows become row k of pairs. The last of an odd number of rows is paired with itself:
/// the dot leaves out the second of that pair.
static void interleave(Emit &emit, Buffer source, int64_t depth, int64_t columns, Buffer target) {
  Type half = emit.getI16Type(), word = emit.getI32Type();
  int64_t lanes = emit.lanes();
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.append({lane, lanes + lane});
  auto row = [&](Value k, Value next, Value pair) {
    emit.loop(emit.constant(0), emit.constant(roundUp(columns, lanes)), lanes, [&](Value j) {
      auto read = [&](Value from) {
        Value place = emit.add(emit.mul(from, source.stride), j);
        return emit.load(emit.offset(source.pointer, place, half), emit.vectorOf(half), 2);
      };
      Value first = read(k), second = read(next);
      emit.store(emit.shuffle(first, second, order),
                 emit.offset(target.pointer, emit.add(emit.mul(pair, target.stride), j), word));
    });
  };
  emit.loop(emit.constant(0), emit.constant(depth / 2), 1, [&](Value pair) {
    Value k = emit.mul(pair, 2);
    row(k, emit.add(k, 1), pair);
  });
  if (depth % 2)
    row(emit.constant(depth - 1), emit.constant(depth - 1), emit.constant(depth / 2));
}

/// Loads behind it read memory, and not what has been stored just before: of vectors that have just been rounded LLVM 22 would make shuffles of bf16,
/// for some of which X86 has no instruction. No code is made of it.
static void storeFirst(Emit &emit) {
  LLVM::FenceOp::create(emit, LLVM::AtomicOrdering::seq_cst, "singlethread");
}

/// A tile as bf16: where it lies so, or a copy of what is held as f32.
static std::pair<Buffer, Order> asBf16(KernelState &state, Value tile) {
  Emit &emit = state.emit;
  Order order = isFree(tile) ? Order::Row : orderOf(tile);
  if (heldAsBf16(tile, emit.isa))
    return {*state.find(tile, order), order};
  Buffer source = state.require(tile, order), copy = state.allocateBf16(shapeOf(tile), order);
  if (!isFree(tile))
    state.own(tile, copy.pointer);
  int64_t inner = roundUp(innerSize(shapeOf(tile), order), emit.lanes());
  emit.loop(emit.constant(0), emit.constant(outerSize(shapeOf(tile), order)), 1, [&](Value i) {
    emit.loop(emit.constant(0), emit.constant(inner), emit.lanes(), [&](Value j) {
      Value from = emit.add(emit.mul(i, source.stride), j), to = emit.add(emit.mul(i, copy.stride), j);
      Value read = emit.load(emit.offset(source.pointer, from, emit.getF32Type()), emit.floats());
      emit.store(roundedToBf16(emit, read), emit.offset(copy.pointer, to, emit.getI16Type()), 2);
    });
  });
  return {copy, order};
}

/// [depth / 2][other] pairs of the tile.
static Buffer makePairs(KernelState &state, Value tile, int64_t axis) {
  Emit &emit = state.emit;
  auto [source, order] = asBf16(state, tile);
  int64_t depth = shapeOf(tile)[axis], other = shapeOf(tile)[1 - axis];
  Buffer target = state.allocate({(depth + 1) / 2, other}, Order::Row);
  if (!isFree(tile))
    state.own(tile, target.pointer);
  storeFirst(emit);
  if ((order == Order::Row) == (axis == 1))
    emitTransposeOfPairs(state, source, other, (depth + 1) / 2, target);
  else
    interleave(emit, source, depth, other, target);
  return target;
}

static int64_t depthOf(OpOperand &use) { return depthAxis(cast<tile::DotOp>(use.getOwner()), use.getOperandNumber()); }

/// Whether the operand is read as vectors.
static bool readsVectors(OpOperand &use) {
  bool rows = orderOf(use.getOwner()->getResult(0)) == Order::Column;
  return (use.getOperandNumber() == 0) == rows;
}

/// Whether pairs can be read where the tile lies.
static bool liesInPairs(OpOperand &use, const Isa &isa) {
  Value tile = use.get();
  return heldAsBf16(tile, isa) && (orderOf(tile) == Order::Row) == (depthOf(use) == 1);
}

bool cpu::readsRowsOfPairs(OpOperand &use, const Isa &isa) {
  return readsPairs(use, isa) && !readsVectors(use) && liesInPairs(use, isa);
}

Buffer cpu::requireVectorPairs(KernelState &state, OpOperand &use) {
  Value tile = use.get();
  std::pair<Value, int64_t> key{tile, depthOf(use)};
  if (auto found = state.pairs.find(key); found != state.pairs.end())
    return found->second;
  Buffer pairs = makePairs(state, tile, key.second);
  if (!isFree(tile)) // the place where a free tile is needed next may come first in another run
    state.pairs[key] = pairs;
  return pairs;
}

/// Rows of pairs of a tile whose own rows lie across the depth.
static Buffer requireRowsOfPairs(KernelState &state, OpOperand &use) {
  std::pair<Value, int64_t> key{use.get(), depthOf(use)};
  if (auto found = state.rowsOfPairs.find(key); found != state.rowsOfPairs.end())
    return found->second;
  int64_t pairs = (shapeOf(use.get())[key.second] + 1) / 2, other = shapeOf(use.get())[1 - key.second];
  Buffer source = requireVectorPairs(state, use), target = state.allocate({other, pairs}, Order::Row);
  emitTranspose(state, source, pairs, other, target);
  if (!isFree(use.get())) {
    state.own(use.get(), target.pointer);
    state.rowsOfPairs[key] = target;
  }
  return target;
}

ScalarOperand cpu::requirePairs(KernelState &state, OpOperand &use) {
  Emit &emit = state.emit;
  if (liesInPairs(use, emit.isa)) {
    Buffer source = *state.find(use.get(), orderOf(use.get()));
    return {source.pointer, source.stride, emit.constant(2)};
  }
  if (takesTiles(cast<tile::DotOp>(use.getOwner()), emit.isa)) {
    Buffer rows = requireRowsOfPairs(state, use);
    return {rows.pointer, emit.mul(rows.stride, 2), emit.constant(2)};
  }
  Buffer pairs = requireVectorPairs(state, use);
  return {pairs.pointer, emit.constant(2), emit.mul(pairs.stride, 2)};
}

void cpu::providePairs(KernelState &state, OpOperand &use) {
  if (readsVectors(use))
    (void)requireVectorPairs(state, use);
  else if (!liesInPairs(use, state.emit.isa))
    (void)requirePairs(state, use);
}
