//===- Loops.cpp - The loop over the sequence, copies running ahead ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads of the body that come through shared memory are started `stages` − 1 steps ahead, if their place follows from the
// induction variable alone:
//
//     barrier                                     (others may still read what the copies overwrite)
//     start copies of steps 0 … stages − 2        (one group each, empty past the end)
//     for each step:
//       wait until the group of this step is there; barrier
//       start the copies of step + stages − 1     (into the buffers that the step before read)
//       the body
//
// The barrier serves both ways: what was copied is visible to all, and all have left the buffers that are next.
//
// Loops of one body that follow each other are one (LoopRun.h). A loop that cannot have a second step, such as that of
// the keys at the diagonal, is a condition: what lives through a loop is held all the while, and the assembler spills
// what it cannot hold.
//
//===----------------------------------------------------------------------===//
#include "KernelState.h"
#include "LoopRun.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using namespace attune::device;

/// Is a value of the body computed from the induction variable and what is known outside, without memory?
static bool runsAhead(tile::LoopOp loop, Value value) {
  if (!value || value == loop.getInductionVar() || !loop.getBody().isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return runsAhead(loop, operand); });
}

namespace {
/// A load whose copies run ahead: one buffer a stage, one after another.
struct StagedLoad {
  tile::LoadOp load;
  SharedTile first;
};

struct StagedLoop {
  KernelState &state;
  tile::LoopOp loop;
  Value lower, upper; // i64
  bool isSingleStep;
  SmallVector<StagedLoad> loads;

  DeviceBuilder &code() { return state.code; }
  SharedTile stageOf(const StagedLoad &staged, Value stage);
  void findLoads();
  void copyStep(Value induction, Value stage);
  void prologue();
  LogicalResult emit(SmallVector<Value> &carried);
  LogicalResult emitSteps(SmallVector<Value> &carried);
  LogicalResult emitStep(SmallVector<Value> &carried);
  LogicalResult body(Value induction, ValueRange carried, Value stage);
};
} // namespace

static SmallVector<Value> flatten(KernelState &state, ValueRange tiles) {
  SmallVector<Value> registers;
  for (Value tile : tiles)
    llvm::append_range(registers, state.tileOf(tile).registers);
  return registers;
}

/// What a loop carries, from registers: as many for each tile as it has when the loop begins.
static void bind(KernelState &state, tile::LoopOp loop, ValueRange tiles, ValueRange registers) {
  for (auto [tile, init] : llvm::zip_equal(tiles, loop.getInitArgs())) {
    size_t count = state.tileOf(init).registers.size();
    state.tiles[tile].registers = SmallVector<Value>(registers.take_front(count));
    registers = registers.drop_front(count);
  }
}

void StagedLoop::findLoads() {
  for (auto load : loop.getBody().front().getOps<tile::LoadOp>()) {
    auto type = cast<RankedTensorType>(load.getResult().getType());
    auto shared = dyn_cast<tile::SharedAttr>(type.getEncoding());
    bool ahead = llvm::all_of(load->getOperands().drop_front(), [&](Value operand) { return runsAhead(loop, operand); });
    // What threads of the block write in between must not be read before.
    if (!shared || state.stages < 2 || !ahead || state.isExchanged(load.getSource()))
      continue;
    loads.push_back({load, state.newSharedTile(shared, type.getElementType(), state.stages)});
    state.runningAhead.insert(loads.back().first.buffer);
  }
}

SharedTile StagedLoop::stageOf(const StagedLoad &staged, Value stage) {
  SharedTile tile = staged.first;
  tile.base = code().offset(tile.base, code().mul(stage, llvm::alignTo(tile.layout.bytes(), tile.layout.alignment)));
  return tile;
}

/// Starts the copies of the step at `induction`, if there is such a step, and closes their group.
void StagedLoop::copyStep(Value induction, Value stage) {
  code().ifThen(code().less(induction, upper), [&] {
    llvm::DenseMap<Value, Value> known{{loop.getInductionVar(), induction}};
    for (StagedLoad &staged : loads) {
      auto type = cast<RankedTensorType>(staged.load.getResult().getType());
      startCopy(state, accessOf(state, staged.load, known), type, stageOf(staged, stage));
    }
  });
  commitCopies(state);
}

void StagedLoop::prologue() {
  if (state.needsBarriers(loop))
    state.sharedUse.barrier(code());
  if (loads.empty())
    return;
  for (int64_t i = 0; i + 1 < state.stages; ++i)
    copyStep(code().add(lower, i * static_cast<int64_t>(loop.getStep())), code().i32(i));
}

LogicalResult StagedLoop::body(Value induction, ValueRange carried, Value stage) {
  int64_t ahead = state.stages - 1;
  state.scalars[loop.getInductionVar()] = induction;
  bind(state, loop, loop.getCarried(), carried);
  if (!loads.empty()) {
    waitForCopies(state, ahead - 1);
    state.sharedUse.barrier(code());
  }
  if (!loads.empty() && !isSingleStep) {
    Value next = code().add(stage, ahead), wrapped = code().sub(next, code().i32(state.stages));
    Value target = code().select(code().less(next, code().i32(state.stages)), next, wrapped);
    copyStep(code().add(induction, ahead * static_cast<int64_t>(loop.getStep())), target);
  }
  if (loads.empty() && state.needsBarriers(loop))
    state.sharedUse.barrier(code());
  for (StagedLoad &staged : loads)
    state.tiles[staged.load.getResult()].shared = stageOf(staged, stage);
  return lowerBlock(state, loop.getBody().front());
}

LogicalResult StagedLoop::emit(SmallVector<Value> &carried) {
  return isSingleStep ? emitStep(carried) : emitSteps(carried);
}

LogicalResult StagedLoop::emitStep(SmallVector<Value> &carried) {
  OpBuilder &builder = code().builder;
  auto op = scf::IfOp::create(builder, code().loc, ValueRange(carried).getTypes(), code().less(lower, upper),
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  if (failed(body(lower, carried, code().i32(0))))
    return failure();
  if (carried.empty()) // the blocks have their ends
    return success();
  scf::YieldOp::create(builder, code().loc, flatten(state, loop.getYield()->getOperands()));
  builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(builder, code().loc, carried);
  carried.assign(op.getResults().begin(), op.getResults().end());
  return success();
}

LogicalResult StagedLoop::emitSteps(SmallVector<Value> &carried) {
  OpBuilder &builder = code().builder;
  SmallVector<Value> inits(carried);
  inits.push_back(code().i32(0)); // the stage of this step
  auto op = scf::ForOp::create(builder, code().loc, lower, upper, code().i64(loop.getStep()), inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.getBody());
    Value stage = op.getRegionIterArgs().back();
    if (failed(body(op.getInductionVar(), op.getRegionIterArgs().drop_back(), stage)))
      return failure();
    SmallVector<Value> next = flatten(state, loop.getYield()->getOperands());
    Value following = code().add(stage, 1);
    next.push_back(code().select(code().equal(following, state.stages), code().i32(0), following));
    scf::YieldOp::create(builder, code().loc, next);
  }
  carried.assign(op.getResults().drop_back().begin(), op.getResults().drop_back().end());
  return success();
}

/// One loop from `lower` to `upper`; `carried` are the registers before and after it.
static LogicalResult lowerRange(KernelState &state, tile::LoopOp loop, Value lower, Value upper, bool isSingleStep,
                                SmallVector<Value> &carried) {
  StagedLoop staged{state, loop, lower, upper, isSingleStep, {}};
  staged.findLoads();
  staged.prologue();
  if (failed(staged.emit(carried)))
    return failure();
  // Values of the body are not known after it; its buffers serve what follows.
  loop.getBody().walk([&](Operation *op) {
    for (Value result : op->getResults())
      state.scalars.erase(result);
  });
  for (const StagedLoad &load : staged.loads)
    state.sharedUse.release(load.first.buffer);
  if (state.needsBarriers(loop))
    state.sharedUse.waitBeforeNextWrite();
  return success();
}

/// The value of a range: `values[range]`.
static Value ofRange(DeviceBuilder &code, Value range, ArrayRef<Value> values) {
  Value result = values.back();
  for (int64_t i = values.size() - 2; i >= 0; --i)
    result = code.select(code.equal(range, i), values[i], result);
  return result;
}

/// The first of several loops, over the range of each in turn.
static LogicalResult lowerRanges(KernelState &state, LoopRun &run, SmallVector<Value> &carried) {
  DeviceBuilder &code = state.code;
  auto scalars = [&](auto values) { return llvm::map_to_vector(values, [&](Value value) { return state.scalar(value); }); };
  SmallVector<Value> lower = scalars(llvm::map_range(run.loops, [](tile::LoopOp loop) { return loop.getLower(); }));
  SmallVector<Value> upper = scalars(llvm::map_range(run.loops, [](tile::LoopOp loop) { return loop.getUpper(); }));
  SmallVector<std::pair<Value, SmallVector<Value>>> differing;
  for (auto &[value, values] : run.differing)
    differing.emplace_back(value, scalars(ArrayRef<Value>(values)));
  int32_t count = run.loops.size();
  auto outer = scf::ForOp::create(code.builder, code.loc, code.i32(0), code.i32(count), code.i32(1), carried);
  {
    OpBuilder::InsertionGuard guard(code.builder);
    code.builder.setInsertionPointToStart(outer.getBody());
    Value range = outer.getInductionVar();
    for (auto &[value, values] : differing)
      state.scalars[value] = ofRange(code, range, values);
    carried.assign(outer.getRegionIterArgs().begin(), outer.getRegionIterArgs().end());
    if (failed(lowerRange(state, run.loops.front(), ofRange(code, range, lower), ofRange(code, range, upper),
                          /*isSingleStep=*/false, carried)))
      return failure();
    scf::YieldOp::create(code.builder, code.loc, carried);
  }
  for (auto &[value, values] : differing)
    state.scalars[value] = values.front();
  carried.assign(outer.getResults().begin(), outer.getResults().end());
  return success();
}

/// Is `upper` at most `lower` + `step`, as far as can be read off it?
static bool isWithinStep(Value lower, Value upper, int64_t step) {
  if (auto least = upper.getDefiningOp<arith::MinSIOp>())
    return isWithinStep(lower, least.getLhs(), step) || isWithinStep(lower, least.getRhs(), step);
  auto sum = upper.getDefiningOp<arith::AddIOp>();
  APInt added;
  return sum && sum.getLhs() == lower && matchPattern(sum.getRhs(), m_ConstantInt(&added)) && added.sle(step);
}

LogicalResult device::lowerLoop(KernelState &state, tile::LoopOp loop) {
  if (loop.getNumResults() && state.tiles.contains(loop.getResult(0)))
    return success(); // as one with a loop before it
  if (loop.getReverse())
    return loop.emitOpError() << "expected a loop from the first step up, but got a reverse one; only the interpreter runs it";
  LoopRun run(loop);
  SmallVector<Value> carried = flatten(state, loop.getInitArgs());
  LogicalResult lowered = run.loops.size() > 1
                              ? lowerRanges(state, run, carried)
                              : lowerRange(state, loop, state.scalar(loop.getLower()), state.scalar(loop.getUpper()),
                                           isWithinStep(loop.getLower(), loop.getUpper(), loop.getStep()), carried);
  if (failed(lowered))
    return failure();
  for (tile::LoopOp joined : run.loops)
    bind(state, loop, joined.getResults(), carried);
  return success();
}
