//===- CutLoops.cpp - Loops in two, composed ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TileBuilder.h"
#include "attune/Kernel/Passes.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

#include <random>

namespace attune::kernel {
#define GEN_PASS_DEF_TILECUTLOOPS
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

#define DEBUG_TYPE "tile-cut-loops"

/// What a view is of.
static Value memoryOf(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

/// A loop whose steps have spans, that carries tiles, and reads no memory that it writes: otherwise the steps behind a border would read what
/// those before it have left.
static bool canBeCut(tile::LoopOp loop) {
  llvm::SmallPtrSet<Value, 8> read, written;
  auto collect = [&](Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (auto store = dyn_cast<tile::StoreOp>(op))
      written.insert(memoryOf(store.getTarget()));
    else if (effects && effects.hasEffect<MemoryEffects::Write>())
      return WalkResult::interrupt();
    else if (effects && effects.hasEffect<MemoryEffects::Read>())
      for (Value operand : op->getOperands())
        read.insert(memoryOf(operand));
    return WalkResult::advance();
  };
  return loop->getNumResults() > 0 && !isa<tile::SequentialAttr>(loop.getCarry()) && !loop.getBody().walk(collect).wasInterrupted() &&
         llvm::none_of(written, [&](Value memory) { return read.contains(memory); });
}

/// The loop without its stores and what only they use, before it; null if it has none.
static tile::LoopOp withoutStores(OpBuilder &builder, tile::LoopOp loop) {
  auto quiet = cast<tile::LoopOp>(builder.clone(*loop));
  SmallVector<tile::StoreOp> stores;
  quiet.getBody().walk([&](tile::StoreOp store) { stores.push_back(store); });
  if (stores.empty()) {
    quiet.erase();
    return {};
  }
  for (tile::StoreOp store : stores)
    store.erase();
  IRRewriter rewriter(builder);
  (void)runRegionDCE(rewriter, quiet->getRegions());
  return quiet;
}

namespace {
struct Steps {
  Value lower, upper;
};
} // namespace

/// The loop's steps before and behind a border after `share` of `shares` of them, in the loop's order.
static std::pair<Steps, Steps> cutSteps(TileBuilder &tiles, tile::LoopOp loop, int64_t share, int64_t shares) {
  auto step = static_cast<int64_t>(loop.getStep());
  Value length = tiles.max(tiles.sub(loop.getUpper(), loop.getLower()), tiles.index(0));
  Value steps = tiles.div(tiles.mul(tiles.ceilDiv(length, step), share), shares);
  Value border = tiles.add(loop.getLower(), tiles.mul(steps, step));
  Steps low{loop.getLower(), border}, high{border, loop.getUpper()};
  return loop.getReverse() ? std::pair(high, low) : std::pair(low, high);
}

/// What the loop leaves, from the spans of two pieces.
static FailureOr<SmallVector<Value>> composed(OpBuilder &builder, tile::LoopOp loop, Steps earlier, Steps later) {
  tile::CarryAttrInterface carry = loop.getCarry();
  FailureOr<SmallVector<Value>> first = carry.buildSpan(builder, loop, earlier.lower, earlier.upper);
  if (failed(first))
    return failure();
  FailureOr<SmallVector<Value>> second = carry.buildSpan(builder, loop, later.lower, later.upper);
  if (failed(second))
    return failure();
  return carry.buildApply(builder, loop.getLoc(), carry.buildCompose(builder, loop.getLoc(), *first, *second),
                          loop.getInitArgs());
}

/// The same of a loop that stores at every step, as a scan: the span of the earlier piece without stores (`quiet`), the
/// state behind it, and each piece from its state.
static FailureOr<SmallVector<Value>> scanned(OpBuilder &builder, tile::LoopOp loop, tile::LoopOp quiet, Steps earlier,
                                             Steps later) {
  tile::CarryAttrInterface carry = loop.getCarry();
  FailureOr<SmallVector<Value>> span = carry.buildSpan(builder, quiet, earlier.lower, earlier.upper);
  if (failed(span))
    return failure();
  SmallVector<Value> border = carry.buildApply(builder, loop.getLoc(), *span, loop.getInitArgs());
  tile::cloneSteps(builder, loop, earlier.lower, earlier.upper, loop.getInitArgs());
  return SmallVector<Value>(tile::cloneSteps(builder, loop, later.lower, later.upper, border));
}

static LogicalResult cut(tile::LoopOp loop, int64_t share, int64_t shares) {
  OpBuilder builder(loop);
  TileBuilder tiles(builder, loop.getLoc());
  auto [earlier, later] = cutSteps(tiles, loop, share, shares);
  tile::LoopOp quiet = withoutStores(builder, loop);
  ATTUNE_DEBUG() << "after " << share << " of " << shares << " parts, " << (quiet ? "as a scan" : "composed") << ": "
                 << loop.getCarry();
  FailureOr<SmallVector<Value>> results =
      quiet ? scanned(builder, loop, quiet, earlier, later) : composed(builder, loop, earlier, later);
  if (quiet)
    quiet.erase();
  if (failed(results))
    return failure();
  loop->replaceAllUsesWith(*results);
  loop->erase();
  return success();
}

namespace {
struct TileCutLoops : public kernel::impl::TileCutLoopsBase<TileCutLoops> {
  using TileCutLoopsBase::TileCutLoopsBase;

  void runOnOperation() override {
    constexpr int64_t shares = 8;
    SmallVector<tile::LoopOp> loops;
    getOperation().walk([&](tile::LoopOp loop) {
      if (canBeCut(loop))
        loops.push_back(loop);
    });
    std::mt19937_64 random(seed);
    for (tile::LoopOp loop : loops)
      if (failed(cut(loop, static_cast<int64_t>(random() % (shares + 1)), shares)))
        return signalPassFailure();
    numLoops += loops.size();
  }
};
} // namespace
