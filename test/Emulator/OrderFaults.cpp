//===- OrderFaults.cpp - Barriers, waits and stages that are wrong -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceSearch.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

using Result = std::optional<Change>;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static Result afterFirstTile(DeviceCode &code) {
  auto waits = all<NVVM::CpAsyncWaitGroupOp>(code);
  auto barrier = waits.empty() ? NVVM::BarrierOp() : nextOf<NVVM::BarrierOp>(waits.front());
  return barrier && !inLoop(barrier) ? Result(erase(barrier)) : Result();
}

static Result afterWaitInLoop(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  auto barrier = waits.empty() ? NVVM::BarrierOp() : nextOf<NVVM::BarrierOp>(waits.front());
  return barrier ? Result(erase(barrier)) : Result();
}

/// The first barrier behind a loop: its buffers have new owners.
static Result betweenLoops(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  Block *header = waits.empty() ? nullptr : waits.front()->getBlock()->getSinglePredecessor();
  if (!header)
    return {};
  for (Block *next : header->getSuccessors())
    for (auto barrier : next->getOps<NVVM::BarrierOp>())
      if (!inLoop(next))
        return erase(barrier);
  return {};
}

/// A barrier in a loop that no wait stands before.
static Result aroundExchange(DeviceCode &code) {
  for (auto barrier : all<NVVM::BarrierOp>(code))
    if (inLoop(barrier) && !isa_and_nonnull<NVVM::CpAsyncWaitGroupOp>(barrier->getPrevNode()))
      return erase(barrier);
  return {};
}

static Result underDivergentBranch(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  auto barrier = waits.empty() ? NVVM::BarrierOp() : nextOf<NVVM::BarrierOp>(waits.front());
  if (!barrier)
    return {};
  Location loc = barrier.getLoc();
  Block *block = barrier->getBlock(), *rest = block->splitBlock(barrier->getNextNode()),
        *own = block->splitBlock(barrier);
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  Value thread = all<NVVM::ThreadIdXOp>(code).front();
  Value most = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(100));
  Value some = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, thread, most);
  LLVM::CondBrOp::create(builder, loc, some, own, rest);
  builder.setInsertionPointToEnd(own);
  LLVM::BrOp::create(builder, loc, rest);
  return Change{0, 4, 0};
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static Result noWait(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  return waits.empty() ? Result() : Result(erase(waits.front()));
}

static Result wrongGroup(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  if (waits.empty())
    return {};
  waits.front().setN(waits.front().getN() + 1);
  return Change{0, 0, 1};
}

/// The last iteration copies once more.
static Result copiesPastTheEnd(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  auto guard = waits.empty() ? LLVM::CondBrOp() : dyn_cast<LLVM::CondBrOp>(waits.back()->getBlock()->getTerminator());
  return guard ? Result(setConstant(guard.getConditionMutable(), 1)) : Result();
}

static Result stageNotAdvanced(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  BlockArgument stage = waits.empty() ? BlockArgument() : stageOf(waits.front()->getBlock());
  if (!stage)
    return {};
  for (Block *before : stage.getOwner()->getPredecessors()) {
    auto back = dyn_cast<LLVM::BrOp>(before->getTerminator());
    if (!back || !inLoop(before))
      continue;
    back->setOperand(stage.getArgNumber(), stage);
    return Change{0, 0, 1};
  }
  return {};
}

/// The next tile is copied to where this one is read.
static Result copiesIntoOwnStage(DeviceCode &code) {
  auto waits = waitsInLoops(code);
  BlockArgument stage = waits.empty() ? BlockArgument() : stageOf(waits.front()->getBlock());
  if (!stage)
    return {};
  auto next = nextOf<LLVM::SelectOp>(waits.front());
  if (!next || next.getType() != stage.getType())
    return {};
  next->setOperand(1, stage);
  next->setOperand(2, stage);
  return Change{0, 0, 1};
}

static Result missingCopy(DeviceCode &code) {
  auto copies = all<NVVM::CpAsyncOp>(code);
  return copies.empty() ? Result() : Result(erase(copies.front()));
}

//===----------------------------------------------------------------------===//
// Order between blocks
//===----------------------------------------------------------------------===//

/// The fence before the exchange of a counter, and the one after it.
static Result noFence(DeviceCode &code, LLVM::AtomicOrdering ordering) {
  for (auto fence : all<LLVM::FenceOp>(code))
    if (fence.getOrdering() == ordering)
      return erase(fence);
  return {};
}

static Result noReleaseFence(DeviceCode &code) { return noFence(code, LLVM::AtomicOrdering::release); }
static Result noAcquireFence(DeviceCode &code) { return noFence(code, LLVM::AtomicOrdering::acquire); }

static Result exchangeInTheBlock(DeviceCode &code) {
  auto exchanges = all<LLVM::AtomicCmpXchgOp>(code);
  if (exchanges.empty())
    return {};
  exchanges.front().setSyncscope("block");
  return Change{0, 0, 1};
}

/// The barrier after the stores of a block's part: the last one ahead of the fence.
static Result arrivalBeforeStores(DeviceCode &code) {
  NVVM::BarrierOp last;
  code.device->walk([&](Operation *op) {
    if (isa<LLVM::FenceOp>(op))
      return WalkResult::interrupt();
    if (auto barrier = dyn_cast<NVVM::BarrierOp>(op))
      last = barrier;
    return WalkResult::advance();
  });
  return last ? Result(erase(last)) : Result();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Fault> test::orderFaults() {
  static const Fault faults[] = {
      {"causal", "first-barrier", "no barrier between the copies of the queries and their reads",
       reported(FindingKind::Race), nullptr, afterFirstTile},
      {"causal", "loop-barrier", "no barrier after the wait in the loop over keys", reported(FindingKind::Race),
       nullptr, afterWaitInLoop},
      {"causal", "barrier-between-loops", "no barrier before the second loop takes the buffers of the first",
       reported(FindingKind::Race), nullptr, betweenLoops},
      {"favor", "exchange-barrier", "no barrier between threads that write shared memory and those that read it",
       reported(FindingKind::Race), nullptr, aroundExchange},
      {"causal", "divergent-barrier", "a barrier that 28 threads of the last warp pass by",
       reported(FindingKind::Divergence), nullptr, underDivergentBranch},
      {"causal", "no-wait", "no wait for the copies of a tile", reported(FindingKind::CopyInFlight), nullptr, noWait},
      {"causal", "wrong-group", "a wait that leaves one group too many in flight", reported(FindingKind::CopyInFlight),
       nullptr, wrongGroup},
      {"causal", "no-commit", "copies of no group", reported(FindingKind::CopyInFlight), nullptr, noneInLoop<NVVM::CpAsyncCommitGroupOp>},
      {"causal", "copies-past-the-end", "the last iteration starts copies that nothing waits for",
       reported(FindingKind::CopyNotWaited), nullptr, copiesPastTheEnd},
      {"causal", "stage-not-advanced", "every iteration reads the same stage", wrongValues, nullptr, stageNotAdvanced},
      {"causal", "copies-into-own-stage", "tiles are copied to where the last one is read",
       reported(FindingKind::CopyInFlight), nullptr, copiesIntoOwnStage},
      {"causal", "missing-copy", "a part of the queries' tile that nothing writes",
       reported(FindingKind::UninitialisedRead), nullptr, missingCopy},
      {"merged", "no-release-fence", "a block counts itself without a fence before", reported(FindingKind::Race), nullptr,
       noReleaseFence},
      {"merged", "no-acquire-fence", "the last block reads the others' parts without a fence before",
       reported(FindingKind::Race), nullptr, noAcquireFence},
      {"merged", "exchange-in-the-block", "a counter that is exchanged at the scope of a block",
       reported(FindingKind::Race), nullptr, exchangeInTheBlock},
      {"merged", "arrival-before-stores", "no barrier between the stores of a part and the arrival",
       reported(FindingKind::Race), nullptr, arrivalBeforeStores},
  };
  return faults;
}
