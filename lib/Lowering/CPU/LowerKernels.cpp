//===- LowerKernels.cpp - Tile kernels to functions of loops over vectors ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Amx.h"
#include "CarriedPlaces.h"
#include "DotForms.h"
#include "FetchAhead.h"
#include "KernelState.h"
#include "MemoryAccess.h"
#include "Pairs.h"
#include "SharedCode.h"
#include "VectorOps.h"

#include "attune/Lowering/CPU/Passes.h"
#include "attune/Lowering/CPU/Pipeline.h"
#include "attune/Support/DebugOutput.h"
#include "attune/Tile/KernelSizes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace attune::cpu {
#define GEN_PASS_DEF_LOWERKERNELS
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-lower-kernels"

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Copies the rows of a tile, with zeros for those that do not exist.
static void copyRows(Emit &emit, const MemoryAccess &access, Value tile, Buffer copy, bool pairs) {
  int64_t columns = shapeOf(tile)[1];
  int64_t width = pairs && columns % (2 * emit.lanes()) == 0 ? 2 * emit.lanes() : emit.lanes();
  Type element = pairs ? Type(emit.getI16Type()) : Type(emit.getF32Type());
  emit.loop(emit.constant(0), emit.constant(shapeOf(tile)[0]), 1, [&](Value row) {
    for (int64_t column = 0; column < columns; column += width) {
      Value at = emit.constant(column);
      Value place = emit.offset(copy.pointer, emit.add(emit.mul(row, copy.stride), at), element);
      if (pairs && column + width <= columns)
        emit.store(access.loadStored(emit, row, at, width), place, 2);
      else if (pairs)
        emit.store(roundedToBf16(emit, access.load(emit, row, at, columns - column)), place, 2);
      else
        emit.store(access.load(emit, row, at, std::min(columns - column, emit.lanes())), place);
    }
  });
}

/// Why a tile is not read where it is in memory.
struct CopyReasons {
  bool always = false;
  Value sometimes; ///< i1; null: never
};

/// If rows do not exist. `aside`: rows that a product reads side by side may be a power of two apart, where they would share
/// a few sets of the first-level cache; not if they are a few lines long and follow each other.
static CopyReasons whyCopied(Emit &emit, const MemoryAccess &access, int64_t rows, bool aside) {
  int64_t close = 4 * access.lineElements();
  Value misses = access.wholeRows() ? Value() : access.missesRow(emit, rows);
  std::optional<int64_t> stride = Emit::known(access.stride);
  if (!aside || (stride && *stride <= close))
    return {false, misses};
  if (stride)
    return {true, Value()};
  Value far = emit.less(emit.constant(close), access.stride);
  return {false, misses ? arith::OrIOp::create(emit, misses, far).getResult() : far};
}

void cpu::emitPlace(KernelState &state, tile::LoadOp load) {
  Emit &emit = state.emit;
  MemoryAccess access(state, load);
  Value tile = load.getResult();
  int64_t rows = shapeOf(tile)[0], columns = shapeOf(tile)[1];
  if (access.moves())
    emit.loop(emit.constant(0), emit.constant(rows), 1, [&](Value row) {
      for (int64_t column = 0; column < columns; column += access.lineElements())
        access.prefetchNext(emit, row, emit.constant(column));
    });
  bool pairs = heldAsBf16(tile, emit.isa);
  bool aside = pairs && llvm::any_of(tile.getUses(), [&](OpOperand &use) { return readsRowsOfPairs(use, emit.isa); });
  CopyReasons reasons = whyCopied(emit, access, rows, aside);
  if (!reasons.always && !reasons.sometimes)
    return state.place(tile, Order::Row, {access.base, access.stride});
  Buffer copy = pairs ? state.allocateBf16(shapeOf(tile), Order::Row) : state.allocate(shapeOf(tile), Order::Row);
  state.own(tile, copy.pointer);
  if (reasons.always) {
    copyRows(emit, access, tile, copy, pairs);
    return state.place(tile, Order::Row, copy);
  }
  Buffer there = access.buffer(emit, foldOf(load));
  SmallVector<Value> inMemory{there.pointer, there.stride}, inCopy{copy.pointer, copy.stride};
  if (there.fold) // the rows of the copy follow each other
    inMemory.append({there.place.first, there.place.jump}), inCopy.append(2, emit.constant(0));
  auto choice = scf::IfOp::create(emit, TypeRange(ValueRange(inMemory)), reasons.sometimes, true);
  {
    OpBuilder::InsertionGuard guard(emit);
    emit.setInsertionPointToStart(&choice.getThenRegion().front());
    copyRows(emit, access, tile, copy, pairs);
    scf::YieldOp::create(emit, inCopy);
    emit.setInsertionPointToStart(&choice.getElseRegion().front());
    scf::YieldOp::create(emit, inMemory);
  }
  // A stride that is known stays so where both places have it.
  auto known = Emit::known(copy.stride);
  bool same = known && known == Emit::known(access.stride);
  Buffer chosen{choice.getResult(0), same ? copy.stride : choice.getResult(1)};
  if (there.fold)
    chosen.fold = there.fold, chosen.place = {choice.getResult(2), choice.getResult(3)};
  state.place(tile, Order::Row, chosen);
}

/// Tiles of the result's shape that a stage is the last to read, each element where the result's is written.
static SmallVector<Value> lastReads(const Stages &stages, unsigned position, Value result) {
  SmallVector<Value> found;
  const Stage &stage = stages.list[position];
  auto consider = [&](Value tile) {
    Operation *definition = tile.getDefiningOp();
    // A tile of the block around a loop is read again in the next step.
    if (isTile(tile) && stages.stageOf.count(definition) && !isFree(tile) && shapeOf(tile) == shapeOf(result) &&
        stages.find(definition) != position && stages.lastUse(tile) == position &&
        !stages.readsElsewhere(tile, position))
      found.push_back(tile);
  };
  if (auto dot = dyn_cast<tile::DotOp>(stage.ops[0])) {
    auto scaled = scaledAccumulator(dot);
    Value accumulator = scaled ? scaled->tile : dot.getAcc();
    auto isFactorOfDot = [&](Value tile) { return tile == dot.getA() || tile == dot.getB(); };
    if (!isFactorOfDot(accumulator))
      consider(accumulator);
    if (auto multiplied = multipliedResult(dot, stages.lanes()); multiplied && !isFactorOfDot(multiplied->factor))
      consider(multiplied->factor);
    return found;
  }
  for (Operation *op : stage.ops)
    for (Value operand : op->getOperands())
      consider(operand);
  return found;
}

/// Computes the results of a stage in buffers of tiles that end there: less memory stays in the first-level cache.
static void reuseBuffers(KernelState &state, const Stages &stages, unsigned position) {
  const Stage &stage = stages.list[position];
  if (stage.kind != Stage::Kind::Nest && stage.kind != Stage::Kind::Dot)
    return;
  for (Operation *op : stage.ops) {
    if (op->getNumResults() == 0 || isa<tile::ReduceOp>(op) || !stages.leavesStage(op->getResult(0)))
      continue;
    Value result = op->getResult(0);
    Order order = stage.kind == Stage::Kind::Nest ? stage.order : orderOf(result);
    for (Value tile : lastReads(stages, position, result))
      if (state.takeOver(tile, result, order))
        break;
  }
}

/// Releases the tiles of this block that no later stage reads.
static void releaseAfter(KernelState &state, const Stages &stages, unsigned position) {
  for (const Stage &stage : ArrayRef(stages.list).take_front(position + 1))
    for (Operation *op : stage.ops)
      for (Value result : op->getResults())
        if (std::optional<unsigned> last = stages.lastUse(result); !last || *last <= position)
          state.release(result);
}

LogicalResult cpu::emitBlock(KernelState &state, Block &block) {
  for (Operation &op : block) {
    if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
      auto kernel = op.getParentOfType<tile::KernelOp>();
      auto function = cast<LLVM::LLVMFuncOp>(state.entry->getBlock()->getParentOp());
      state.scalars.map(id.getResult(), function.getArgument(1 + *kernel.getGridPosition(id.getAxis())));
    } else if (isTable(&op)) {
      emitTable(state, &op);
    } else if (isScalarOp(&op)) {
      if (failed(emitScalar(state.emit, &op, state.scalars, state.memories)))
        return failure();
    }
  }
  assignFetches(state, block);
  for (auto loop : block.getOps<tile::LoopOp>())
    placeCarries(state, loop);
  Stages stages(block, state.emit.isa);
  for (const Stage &stage : stages.list) {
    unsigned position = &stage - stages.list.begin();
    reuseBuffers(state, stages, position);
    if (Value needed = needsLoad(state, stage)) {
      auto load = scf::IfOp::create(state.emit, needed, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(state.emit);
      state.emit.setInsertionPointToStart(&load.getThenRegion().front());
      emitNest(state, stages, stage);
    } else if (stage.kind == Stage::Kind::Nest)
      emitNest(state, stages, stage);
    else if (stage.kind == Stage::Kind::Dot)
      emitDot(state, cast<tile::DotOp>(stage.ops[0]));
    else if (stage.kind == Stage::Kind::Dots)
      emitRows(state, cast<tile::DotOp>(stage.ops[0]), cast<tile::DotOp>(stage.ops[1]));
    else if (stage.kind == Stage::Kind::Scan)
      emitScan(state, cast<tile::ScanOp>(stage.ops[0]));
    else if (stage.kind == Stage::Kind::Place)
      emitPlace(state, cast<tile::LoadOp>(stage.ops[0]));
    else if (stage.kind == Stage::Kind::Arrive)
      emitArrive(state, cast<tile::ArriveOp>(stage.ops[0]));
    else if (stage.kind == Stage::Kind::Any)
      emitAny(state, cast<tile::AnyOp>(stage.ops[0]));
    else if (failed(emitLoop(state, cast<tile::LoopOp>(stage.ops[0]))))
      return failure();
    if (stage.kind != Stage::Kind::Loop && stage.kind != Stage::Kind::Arrive && stage.kind != Stage::Kind::Any)
      for (Operation *op : stage.kind == Stage::Kind::Dot ? ArrayRef(stage.ops).take_back() : ArrayRef(stage.ops))
        provideOrders(state, op->getResults());
    releaseAfter(state, stages, position);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static LogicalResult refuseSize(Operation *op, StringRef what, int64_t bytes) {
  InFlightDiagnostic diagnostic = op->emitOpError() << "expected " << what << " of at most " << tile::mostScratchBytes
                                                    << " bytes, but got " << bytes;
  diagnostic.attachNote() << "every thread holds the tiles of its kernel at once; choose smaller tiles";
  return diagnostic;
}

/// Rejects tiles that no scratch could hold.
static LogicalResult checkTiles(Operation *op) {
  for (Value result : op->getResults())
    if (isTile(result)) {
      // In floating point, where the product of any two sizes exists.
      double bytes = 4;
      for (int64_t size : shapeOf(result))
        bytes *= static_cast<double>(size);
      if (bytes > tile::mostScratchBytes)
        return refuseSize(op, "a tile", static_cast<int64_t>(std::min(bytes, 0x1p62)));
    }
  return success();
}

/// Rejects what the lowering does not know, before anything is emitted.
static LogicalResult check(tile::KernelOp kernel) {
  auto result = kernel->walk([](Operation *op) -> WalkResult {
    if (failed(checkTiles(op)))
      return WalkResult::interrupt();
    if (isa<tile::TileDialect>(op->getDialect()) || isScalarOp(op))
      return WalkResult::advance();
    if (isa<arith::ConstantOp>(op) && !splatValue(op->getResult(0)) && !isTable(op))
      return op->emitOpError() << "expected a tile constant of equal elements, or of rank 1 in f32";
    if (!isa<arith::ConstantOp>(op) && !isElementwise(op))
      return op->emitOpError() << "expected an elementwise op that a CPU kernel computes without a library";
    if (!llvm::all_of(op->getOperands(), isTile))
      return op->emitOpError() << "expected operands that are tiles";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether other instruction sets run a kernel's code for this one, too.
static bool isShared(tile::KernelOp kernel, const Isa &isa, ArrayRef<const Isa *> targets) {
  return llvm::any_of(targets, [&](const Isa *other) { return other != &isa && &codeOf(kernel, *other, targets) == &isa; });
}

static LogicalResult lowerKernel(tile::KernelOp kernel, const Isa &isa, bool shared, unsigned &nests, unsigned &dots) {
  ATTUNE_DEBUG() << "@" << kernel.getSymName() << " for " << isa.name << ": vectors of " << isa.lanes << " f32, blocks of "
                 << isa.blockRows << " x " << isa.blockVectors << " vectors";
  auto module = kernel->getParentOfType<ModuleOp>();
  Emit emit(kernel.getLoc(), OpBuilder(kernel.getContext()), isa);
  Type pointer = emit.pointerType(), i64 = emit.getI64Type();
  LLVM::LLVMFuncOp op =
      emit.function(module, variantName(kernel.getSymName(), isa.name), {pointer, i64, i64, i64, pointer});
  if (shared)
    op.setPassthroughAttr(emit.getStrArrayAttr({sharedAttr}));
  Block &entry = op.getBody().front();
  emit.setInsertionPointToStart(&entry);
  KernelState state(emit, module);
  state.scratch = op.getArgument(4);
  readSlots(emit, op.getArgument(0), kernel.getBody().getArguments(), state.scalars, state.memories);
  // Everything that is emitted from here on comes after this op, and parts of the scratch before it.
  Value marker = emit.constant(0);
  state.entry = marker.getDefiningOp();
  std::optional<TileNames> tiles = tileNames(kernel, isa);
  if (tiles)
    configureTiles(emit, module, *tiles);
  state.makeEdgeRows(kernel);
  if (failed(emitBlock(state, kernel.getBody().front())))
    return failure();
  if (state.scratchBytes > tile::mostScratchBytes)
    return refuseSize(kernel, "tiles", state.scratchBytes);
  if (tiles)
    releaseTiles(emit);
  LLVM::ReturnOp::create(emit, ValueRange());
  op->setAttr(scratchBytesAttr, emit.getI64IntegerAttr(state.scratchBytes));
  nests += state.nests, dots += state.dots;
  return success();
}

namespace {
struct LowerKernels : public cpu::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;

  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    unsigned nests = 0, dots = 0;
    FailureOr<SmallVector<const Isa *>> targets = findIsas(getOperation(), isas);
    if (failed(targets))
      return signalPassFailure();
    for (tile::KernelOp kernel : kernels) {
      if (failed(check(kernel)))
        return signalPassFailure();
      for (const Isa *isa : *targets)
        if (&codeOf(kernel, *isa, *targets) == isa && failed(lowerKernel(kernel, *isa, isShared(kernel, *isa, *targets), nests, dots)))
          return signalPassFailure();
    }
    numNests += nests, numDots += dots;
  }
};
} // namespace
