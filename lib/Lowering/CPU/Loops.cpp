//===- Loops.cpp - Loops over the sequence and what they carry -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CarriedPlaces.h"
#include "DotForms.h"
#include "KernelState.h"
#include "Pairs.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Transposes a tile that has just been computed for the uses that read it in the other order.
static void provideOrder(KernelState &state, Value tile) {
  if (rankOf(tile) != 2 || isFree(tile) || !state.find(tile, orderOf(tile)))
    return;
  for (OpOperand &use : tile.getUses())
    if (readsPairs(use, state.emit.isa))
      providePairs(state, use);
    else if (Order order = orderOfUse(use); !state.find(tile, order))
      state.place(tile, order, state.require(tile, order));
}

void cpu::provideOrders(KernelState &state, ValueRange tiles) {
  for (Value tile : tiles)
    provideOrder(state, tile);
}

/// Whether the tile `next`, computed in this block, may overwrite the carried tile element by element.
static bool mayOverwrite(const Stages &stages, Value next, Value carried) {
  Operation *definition = next.getDefiningOp();
  auto found = stages.stageOf.find(definition);
  if (found == stages.stageOf.end() || isa<tile::ReduceOp, tile::LoopOp>(definition) || dotThatEndsWith(definition, stages.lanes()))
    return false;
  std::optional<unsigned> last = stages.lastUse(carried);
  if (!last || *last < found->second)
    return true;
  // A dot reads its accumulator where it writes, but all of its factors.
  bool factor =
      isa<tile::DotOp>(definition) && (definition->getOperand(0) == carried || definition->getOperand(1) == carried);
  return *last == found->second && !factor && !stages.readsElsewhere(carried, *last);
}

/// Lets the yielded tile, and the accumulator it is computed from, be computed in the carried tile's buffer.
static void promiseCarry(KernelState &state, const Stages &stages, Value next, Value carried, Buffer buffer) {
  if (isFree(next) || !next.hasOneUse() || !mayOverwrite(stages, next, carried))
    return;
  if (rankOf(next) == 2 && orderOf(next) != orderOf(carried)) // a scan leaves rows, whatever is carried
    return;
  state.promise(next, buffer);
  auto dot = next.getDefiningOp<tile::DotOp>();
  if (dot && dot.getAcc() != carried && !isFree(dot.getAcc()) && dot.getAcc().hasOneUse() &&
      orderOf(dot.getAcc()) == orderOf(next) && mayOverwrite(stages, dot.getAcc(), carried))
    state.promise(dot.getAcc(), buffer);
}

/// Whether what a step of a loop does with a carried tile is to hand it through loops of its body, back to its own
/// place.
static bool goesThroughLoops(Value carried) {
  auto argument = dyn_cast<BlockArgument>(carried);
  auto outer = argument ? dyn_cast<tile::LoopOp>(argument.getOwner()->getParentOp()) : tile::LoopOp();
  Value value = carried;
  while (outer && value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (use.getOwner() == outer.getYield())
      return use.getOperandNumber() + 1 == argument.getArgNumber();
    auto inner = dyn_cast<tile::LoopOp>(use.getOwner());
    if (!inner || inner->getBlock() != argument.getOwner())
      return false;
    value = inner.getTiedLoopResult(&use);
  }
  return false;
}

/// The buffer of a carried tile: where it will be stored, or that of its initial value if nobody else wants it, else a copy.
static Buffer carryBuffer(KernelState &state, tile::LoopOp loop, Value init, Value result) {
  Order order = orderOf(result);
  std::optional<Buffer> place = state.find(init, order);
  if (auto stored = state.carriedPlaces.find(result); stored != state.carriedPlaces.end()) {
    Buffer buffer = stored->second.buffer;
    if (!place || place->pointer != buffer.pointer)
      emitCopy(state, init, order, buffer);
    return buffer;
  }
  if (place && goesThroughLoops(init))
    return *place;
  // What is made outside of a loop around this one is read in each of its steps.
  Operation *made = init.getDefiningOp();
  bool ends = place && made && made->getBlock() == loop->getBlock() && init.hasOneUse() && !isFree(init);
  if (ends && state.owns(init, *place)) {
    state.keep(init);
    return *place;
  }
  Buffer buffer = state.allocate(shapeOf(init), order);
  emitCopy(state, init, order, buffer);
  return buffer;
}

/// Copies what is yielded to the carried tiles' buffers, through other buffers if a carried tile is yielded elsewhere.
static void emitYield(KernelState &state, tile::LoopOp loop, ArrayRef<Buffer> buffers) {
  SmallVector<std::pair<Value, Buffer>> moves;
  bool crossing = false;
  for (auto [position, next] : llvm::enumerate(loop.getYield()->getOperands())) {
    std::optional<Buffer> place = isFree(next) ? std::nullopt : state.find(next, orderOf(loop.getResult(position)));
    if (place && place->pointer == buffers[position].pointer)
      continue;
    crossing |= llvm::is_contained(loop.getCarried(), next);
    moves.push_back({next, buffers[position]});
  }
  auto orderAt = [&](Buffer buffer) {
    for (auto [position, other] : llvm::enumerate(buffers))
      if (other.pointer == buffer.pointer)
        return orderOf(loop.getResult(position));
    return Order::Row;
  };
  SmallVector<Buffer> sources;
  for (auto &[next, target] : moves) {
    Buffer through = crossing ? state.allocate(shapeOf(next), orderAt(target)) : target;
    emitCopy(state, next, orderAt(target), through);
    sources.push_back(through);
  }
  if (!crossing)
    return;
  for (auto [move, source] : llvm::zip_equal(moves, sources)) {
    Order order = orderAt(move.second);
    state.place(move.first, order, source);
    emitCopy(state, move.first, order, move.second);
  }
}

LogicalResult cpu::emitLoop(KernelState &state, tile::LoopOp loop) {
  if (loop.getReverse())
    return loop.emitOpError() << "expected a loop from the first step up, but got a reverse one; only the interpreter runs it";
  Emit &emit = state.emit;
  SmallVector<Buffer> buffers;
  for (auto [init, result] : llvm::zip_equal(loop.getInitArgs(), loop.getResults()))
    buffers.push_back(carryBuffer(state, loop, init, result));
  for (auto [carried, buffer] : llvm::zip_equal(loop.getCarried(), buffers))
    state.place(carried, rankOf(carried) == 1 ? Order::Row : orderOf(carried), buffer);
  Block &body = loop.getBody().front();
  Stages stages(body, emit.isa);
  for (auto [next, carried, buffer] : llvm::zip_equal(loop.getYield()->getOperands(), loop.getCarried(), buffers))
    promiseCarry(state, stages, next, carried, buffer);
  LogicalResult result = success();
  emit.loop(state.scalars.lookup(loop.getLower()), state.scalars.lookup(loop.getUpper()), loop.getStep(),
            [&](Value iv) {
              state.scalars.map(loop.getInductionVar(), iv);
              provideOrders(state, loop.getCarried());
              result = emitBlock(state, body);
              if (succeeded(result))
                emitYield(state, loop, buffers);
            });
  for (auto [value, buffer] : llvm::zip_equal(loop.getResults(), buffers)) {
    state.place(value, rankOf(value) == 1 ? Order::Row : orderOf(value), buffer);
    if (!state.carriedPlaces.contains(value))
      state.own(value, buffer.pointer);
  }
  storeCarries(state, loop);
  provideOrders(state, loop.getResults());
  return result;
}
