//===- Any.cpp - What numbers decide -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

void cpu::emitAny(KernelState &state, tile::AnyOp op) {
  Emit &emit = state.emit;
  int64_t count = shapeOf(op.getTile())[0], lanes = emit.lanes();
  Buffer buffer = state.require(op.getTile(), Order::Row);
  auto above = [&](Value at) {
    Value numbers = emit.load(emit.offset(buffer.pointer, at, emit.getF32Type()), emit.floats());
    // True of what is not a number.
    return arith::CmpFOp::create(emit, arith::CmpFPredicate::UGT, numbers, emit.splat(0.0)).getResult();
  };
  Value found = emit.lanesBelow(int64_t(0));
  int64_t whole = count / lanes * lanes;
  if (whole > 0)
    found = emit.loop(emit.constant(0), emit.constant(whole), lanes, found, [&](Value at, ValueRange before) {
      return SmallVector<Value>{arith::OrIOp::create(emit, before[0], above(at))};
    })[0];
  if (whole < count) {
    Value last = arith::AndIOp::create(emit, above(emit.constant(whole)), emit.lanesBelow(count - whole));
    found = arith::OrIOp::create(emit, found, last);
  }
  Value any = vector::ReductionOp::create(emit, vector::CombiningKind::OR, found);
  state.scalars.map(op.getResult(), arith::ExtUIOp::create(emit, emit.getI64Type(), any).getResult());
}
