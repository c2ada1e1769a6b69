//===- Arrive.cpp - The program that is last of its group -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     word = 0
//     while (!exchange(counter, word → next(word)))    the counter had another word: that one
//     last = next(word) = 0
//
// A program is the work of one thread. The exchange comes after what it has stored, and before what it loads next.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "attune/Tile/Arrive.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// `tile::afterArrival`, in code.
static Value afterArrival(Emit &emit, Value word, Value count) {
  auto equal = [&](Value a, Value b) { return arith::CmpIOp::create(emit, arith::CmpIPredicate::eq, a, b).getResult(); };
  auto constant = [&](uint64_t bits) { return emit.constant(static_cast<int64_t>(bits)); };
  Value mark = arith::ShRUIOp::create(emit, word, constant(tile::countBits));
  Value begun = equal(mark, constant(tile::beginCount >> tile::countBits));
  Value next = emit.add(emit.select(begun, word, constant(tile::beginCount)), 1);
  Value number = arith::AndIOp::create(emit, next, constant(tile::mostArrivals));
  return emit.select(equal(number, count), emit.constant(0), next);
}

void cpu::emitArrive(KernelState &state, tile::ArriveOp op) {
  Emit &emit = state.emit;
  const Memory memory = state.memories.lookup(op.getCounters());
  Value words = emit.constant(0), count = state.scalars.lookup(op.getCount());
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), ArrayRef<Value>(memory.strides).drop_back()))
    words = emit.add(words, emit.mul(state.scalars.lookup(index), stride));
  Value counter = emit.offset(memory.pointer, words, memory.type.getElementType());
  auto before = [&](OpBuilder &, Location, ValueRange word) {
    Value next = afterArrival(emit, word[0], count);
    auto exchange = LLVM::AtomicCmpXchgOp::create(emit, counter, word[0], next, LLVM::AtomicOrdering::acq_rel,
                                                  LLVM::AtomicOrdering::monotonic, /*syncscope=*/StringRef(), /*alignment=*/8);
    Value found = LLVM::ExtractValueOp::create(emit, exchange, ArrayRef<int64_t>{0});
    Value done = LLVM::ExtractValueOp::create(emit, exchange, ArrayRef<int64_t>{1});
    Value missed = arith::XOrIOp::create(emit, done, arith::ConstantOp::create(emit, emit.getBoolAttr(true)));
    scf::ConditionOp::create(emit, missed, ValueRange{found, next});
  };
  auto after = [&](OpBuilder &, Location, ValueRange results) { scf::YieldOp::create(emit, results[0]); };
  auto loop = scf::WhileOp::create(emit, TypeRange{emit.getI64Type(), emit.getI64Type()}, emit.constant(0), before, after);
  Value last = arith::CmpIOp::create(emit, arith::CmpIPredicate::eq, loop.getResult(1), emit.constant(0));
  state.scalars.map(op.getResult(), arith::ExtUIOp::create(emit, emit.getI64Type(), last).getResult());
}
