//===- Arrive.cpp - The block that is last of its group ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     barrier                                        the threads of the block have stored their parts
//     one thread:
//       fence                                        what they stored comes before the arrival, for the whole device
//       word = 0
//       while (!exchange(counter, word → next(word)))    the counter had another word: that one
//       last = next(word) = 0
//       fence                                        what others stored comes after their arrivals
//     barrier, which tells all threads whether one of them is last
//
// A group's last arrival leaves 0, so that the exchange of the next run's first one succeeds at once.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "attune/Tile/Arrive.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// All that concerns other blocks; a block's own threads meet at barriers.
static constexpr llvm::StringLiteral deviceScope = "device";

static Value counterOf(KernelState &state, tile::ArriveOp op) {
  DeviceBuilder &code = state.code;
  const Memory &memory = state.memories[op.getCounters()];
  Value words = code.i64(0);
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), ArrayRef<Value>(memory.strides).drop_back()))
    words = code.add(words, code.mul(state.scalar(index), stride));
  return code.offset(memory.pointer, code.mul(words, 4));
}

/// `tile::afterArrival`, in code.
static Value afterArrival(DeviceBuilder &code, Value word, Value count) {
  OpBuilder &builder = code.builder;
  Value mark = arith::ShRUIOp::create(builder, code.loc, word, code.i64(tile::countBits));
  Value begun = code.equal(mark, static_cast<int64_t>(tile::beginCount >> tile::countBits));
  Value next = code.add(code.select(begun, word, code.i64(static_cast<int64_t>(tile::beginCount))), 1);
  Value number = code.both(next, code.i64(static_cast<int64_t>(tile::mostArrivals)));
  Value last = arith::CmpIOp::create(builder, code.loc, arith::CmpIPredicate::eq, number, count);
  return code.select(last, code.i64(0), next);
}

static void fence(DeviceBuilder &code, LLVM::AtomicOrdering ordering) {
  LLVM::FenceOp::create(code.builder, code.loc, ordering, deviceScope);
}

/// What the counter holds after this arrival: i64.
static Value arrive(DeviceBuilder &code, Value counter, Value count) {
  OpBuilder &builder = code.builder;
  Type i64 = builder.getI64Type();
  auto before = [&](OpBuilder &, Location, ValueRange word) {
    Value next = afterArrival(code, word[0], count);
    auto exchange = LLVM::AtomicCmpXchgOp::create(builder, code.loc, counter, word[0], next, LLVM::AtomicOrdering::monotonic,
                                                  LLVM::AtomicOrdering::monotonic, deviceScope, /*alignment=*/8);
    Value found = LLVM::ExtractValueOp::create(builder, code.loc, exchange, ArrayRef<int64_t>{0});
    Value done = LLVM::ExtractValueOp::create(builder, code.loc, exchange, ArrayRef<int64_t>{1});
    scf::ConditionOp::create(builder, code.loc, code.exclusiveOr(done, code.truth(true)), ValueRange{found, next});
  };
  auto after = [&](OpBuilder &, Location, ValueRange results) { scf::YieldOp::create(builder, code.loc, results[0]); };
  auto loop = scf::WhileOp::create(builder, code.loc, TypeRange{i64, i64}, code.i64(0), before, after);
  return loop.getResult(1);
}

void device::lowerArrive(KernelState &state, tile::ArriveOp op) {
  DeviceBuilder &code = state.code;
  OpBuilder &builder = code.builder;
  Value counter = counterOf(state, op), count = state.scalar(op.getCount());
  state.sharedUse.barrier(code);
  auto one = scf::IfOp::create(builder, code.loc, TypeRange{builder.getI1Type()}, code.equal(state.thread, 0),
                               /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(one.thenBlock());
    fence(code, LLVM::AtomicOrdering::release);
    Value last = code.equal(arrive(code, counter, count), 0);
    fence(code, LLVM::AtomicOrdering::acquire);
    scf::YieldOp::create(builder, code.loc, last);
    builder.setInsertionPointToStart(one.elseBlock());
    scf::YieldOp::create(builder, code.loc, code.truth(false));
  }
  Value any = code.intrinsic("llvm.nvvm.barrier.cta.red.or.aligned.all", builder.getI1Type(),
                             {code.i32(0), one.getResult(0)});
  state.scalars[op.getResult()] = arith::ExtUIOp::create(builder, code.loc, builder.getI64Type(), any);
}
