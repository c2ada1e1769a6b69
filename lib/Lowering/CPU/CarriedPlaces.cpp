//===- CarriedPlaces.cpp - Carried tiles where they are stored ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of one token reads and writes a state of 16 KiB a head once each. To the scratch and back it would be copied twice, which takes
// longer than the token. So a loop that carries what a store behind it takes carries it in that memory; and where the initial value is
// there already, as in a decoder's loop, nothing is copied at all. Memory that does not exist has no rows: then it is the scratch, and so
// where rows lie further apart than there.
//
//===----------------------------------------------------------------------===//
#include "CarriedPlaces.h"

#include "DotForms.h"
#include "MemoryAccess.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

static tile::StoreOp onlyStore(Value result) {
  return result.hasOneUse() ? dyn_cast<tile::StoreOp>(*result.user_begin()) : tile::StoreOp();
}

template <typename Op> static unsigned countOf(Operation *op, llvm::function_ref<bool(Op)> counts) {
  unsigned count = 0;
  op->getParentOfType<tile::KernelOp>()->walk([&](Op other) { count += counts(other); });
  return count;
}

/// The initial value of a carried tile, if it is a load that nobody else repeats: the memory may be that of the store.
static tile::LoadOp initialLoad(tile::LoopOp loop, Value result) {
  auto load = loop.getInitArgs()[cast<OpResult>(result).getResultNumber()].getDefiningOp<tile::LoadOp>();
  if (!load || load->getBlock() != loop->getBlock() || !load.getResult().hasOneUse() || load.getFold())
    return {};
  bool once = countOf<tile::LoadOp>(loop, [&](tile::LoadOp other) { return other.getSource() == load.getSource(); }) == 1;
  return once ? load : tile::LoadOp();
}

bool cpu::isCarriedInMemory(tile::StoreOp store, int64_t lanes) {
  Value tile = store.getValue();
  auto loop = tile.getDefiningOp<tile::LoopOp>();
  if (!loop || !isa<tile::KernelOp>(loop->getParentOp()) || store->getBlock() != loop->getBlock() || !tile.hasOneUse())
    return false;
  Value initial = loop.getInitArgs()[cast<OpResult>(tile).getResultNumber()];
  bool once = countOf<tile::StoreOp>(store, [&](tile::StoreOp other) { return other.getTarget() == store.getTarget(); }) == 1;
  return once && !store.getFold() && storesWholeVectors(store, lanes) && shapeOf(tile)[0] % lanes == 0 && orderOf(tile) == Order::Row &&
         (splatValue(initial) || initialLoad(loop, tile));
}

/// i1: rows are missing, or lie elsewhere.
static Value isElsewhere(Emit &emit, const MemoryAccess &access, Buffer place, int64_t rows) {
  auto number = [&](Value pointer) { return LLVM::PtrToIntOp::create(emit, emit.getI64Type(), pointer).getResult(); };
  auto differ = [&](Value a, Value b) { return arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, a, b).getResult(); };
  Value result = arith::OrIOp::create(emit, differ(number(access.base), number(place.pointer)), differ(access.stride, place.stride));
  return access.wholeRows() ? result : arith::OrIOp::create(emit, result, access.missesRow(emit, rows)).getResult();
}

void cpu::placeCarries(KernelState &state, tile::LoopOp loop) {
  Emit &emit = state.emit;
  for (Value result : loop.getResults()) {
    tile::StoreOp store = onlyStore(result);
    if (!store || !isCarriedInMemory(store, emit.lanes()))
      continue;
    MemoryAccess access(state, store);
    int64_t rows = shapeOf(result)[0];
    // Dots know how far apart rows of the scratch are.
    Buffer scratch = state.allocate(shapeOf(result), Order::Row);
    Value isScratch = arith::CmpIOp::create(emit, arith::CmpIPredicate::ne, access.stride, scratch.stride);
    if (!access.wholeRows())
      isScratch = arith::OrIOp::create(emit, isScratch, access.missesRow(emit, rows));
    CarriedPlace place{{emit.select(isScratch, scratch.pointer, access.base), scratch.stride}, isScratch};
    state.carriedPlaces[result] = place;
    if (tile::LoadOp load = initialLoad(loop, result)) {
      state.promise(load.getResult(), place.buffer);
      state.loadsNeeded[load] = isElsewhere(emit, MemoryAccess(state, load), place.buffer, rows);
    }
  }
}

Value cpu::needsLoad(KernelState &state, const Stage &stage) {
  return stage.kind == Stage::Kind::Nest && stage.ops.size() == 1 ? state.loadsNeeded.lookup(stage.ops[0]) : Value();
}

void cpu::storeCarries(KernelState &state, tile::LoopOp loop) {
  Emit &emit = state.emit;
  for (Value result : loop.getResults()) {
    CarriedPlace place = state.carriedPlaces.lookup(result);
    if (!place.isScratch) // no place of its own
      continue;
    MemoryAccess access(state, onlyStore(result));
    auto elsewhere = scf::IfOp::create(emit, place.isScratch, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(emit);
    emit.setInsertionPointToStart(&elsewhere.getThenRegion().front());
    emit.loop(emit.constant(0), emit.constant(shapeOf(result)[0]), 1, [&](Value row) {
      for (int64_t column = 0; column < shapeOf(result)[1]; column += emit.lanes()) {
        Value at = emit.constant(column), from = emit.add(emit.mul(row, place.buffer.stride), at);
        Value numbers = emit.load(emit.offset(place.buffer.pointer, from, emit.getF32Type()), emit.floats());
        access.store(emit, numbers, row, at, emit.lanes());
      }
    });
  }
}
