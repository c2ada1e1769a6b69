//===- Machine.cpp - The threads of a block and their schedule ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

using namespace attune;
using namespace attune::emulator;

// A fiber starts without arguments, and so do the program's pure functions.
static thread_local Machine *active = nullptr;

Machine *emulator::activeMachine() { return active; }

//===----------------------------------------------------------------------===//
// Running a block
//===----------------------------------------------------------------------===//

void Machine::threadMain() {
  enterFiber();
  active->launch.entry(active->launch.parameters);
  active->endThread();
  std::abort(); // an ended thread is never switched to
}

void Machine::prepareThreads() {
  unsigned count = unsigned(launch.block.count());
  threads.resize(count);
  warps.assign((count + 31) / 32, Warp());
  for (unsigned i = 0; i < count; ++i) {
    Thread &thread = threads[i];
    Warp &warp = warps[i / 32];
    thread.index = i;
    thread.lane = i % 32;
    thread.id = {i % launch.block.x, i / launch.block.x % launch.block.y, i / launch.block.x / launch.block.y};
    thread.warp = &warp;
    thread.state = ThreadState::Ready;
    thread.copies.clear();
    thread.groups.clear();
    thread.stores.clear();
    thread.storeGroups.clear();
    thread.productTag = 0;
    thread.asked.clear();
    // The stacks begin at different cache lines; at equal distances they would fall into few sets of the cache.
    prepareFiber(thread.fiber, stacks.base(i), FiberStacks::stackBytes - i % 128 * 832, threadMain);
    warp.index = i / 32;
    warp.lanes |= 1u << thread.lane;
    if (thread.lane == 0)
      warp.threads = &thread;
  }
  for (Warp &warp : warps)
    warp.ready = warp.lanes;
}

std::string Machine::runBlock(const BlockLaunch &what, Dim3 index, llvm::ArrayRef<std::unique_ptr<Site>> sites) {
  launch = what;
  blockIndex = index;
  if (!stacks.reserve(launch.block.count()))
    return "expected memory for the stacks of " + std::to_string(launch.block.count()) + " threads, but got none";
  prepareThreads();
  clock.reset();
  global.order.beginBlock();
  barriers = {};
  mbarriers.clear();
  idlePolls = 0;
  shared.beginBlock(unsigned(warps.size()));
  for (const std::unique_ptr<Site> &site : sites)
    if (site->sharedRequests.size() < warps.size()) {
      site->sharedRequests.resize(warps.size());
      site->globalRequests.resize(warps.size());
    }

  active = this;
  running = nullptr;
  do {
    Thread *first = nextThread(warps.back());
    if (!first)
      break;
    running = first;
    switchFiber(scheduler, first->fiber);
  } while (releasePolling());
  active = nullptr;
  flushRequests();
  ++counters().blocks;
  std::string problem = explainStop();
  if (problem.empty() && options.check)
    checkEnd();
  return problem;
}

/// A ready lane of the same warp if there is one, from the lane after the running one on; else one of another warp.
Thread *Machine::nextThread(const Warp &after) {
  if (after.ready && running) {
    unsigned from = (running->lane + 1) % 32;
    unsigned lane = (unsigned(std::countr_zero(std::rotr(after.ready, int(from)))) + from) % 32;
    return &after.threads[lane];
  }
  size_t count = warps.size();
  size_t begin = options.shuffleSchedule ? size_t(random() % count) : after.index + 1;
  for (size_t i = 0; i < count; ++i) {
    const Warp &warp = warps[(begin + i) % count];
    if (!warp.ready)
      continue;
    unsigned from = options.shuffleSchedule ? unsigned(random() % 32) : 0;
    unsigned lane = (unsigned(std::countr_zero(std::rotr(warp.ready, int(from)))) + from) % 32;
    return &warp.threads[lane];
  }
  return nullptr;
}

void Machine::yield() {
  Thread *self = running;
  Thread *next = nextThread(*self->warp);
  if (next == self)
    return;
  Fiber &to = next ? next->fiber : scheduler;
  if (next)
    running = next;
  switchFiber(self->fiber, to);
}

void Machine::endThread() {
  Thread &thread = *running;
  thread.state = ThreadState::Ended;
  thread.warp->ready &= ~(1u << thread.lane);
  thread.warp->ended |= 1u << thread.lane;
  if (options.check && !thread.copies.empty())
    report(FindingKind::CopyNotWaited, *thread.copies.front().site, thread,
           "the thread ends, but its cp.async copies are in flight; wait for all groups before the end");
  if (size_t stored = size_t(std::ranges::find(thread.stores, false, &BulkCopy::read) - thread.stores.begin());
      stored < thread.stores.size()) {
    if (options.check)
      report(FindingKind::CopyNotWaited, *thread.stores[stored].site, thread,
             "the thread ends, but its bulk stores still read shared memory; wait for all bulk groups before the end");
  } else {
    landStores(thread, stored);
  }
  yield();
}

/// With a drawn schedule, lets another warp go on after about every fourth warp instruction.
void Machine::maybeSwitchWarp() {
  if (!options.shuffleSchedule || random() % 4 != 0)
    return;
  Thread *self = running;
  const Warp &other = warps[random() % warps.size()];
  if (!other.ready || &other == self->warp)
    return;
  Thread *next = &other.threads[std::countr_zero(other.ready)];
  running = next;
  switchFiber(self->fiber, next->fiber);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Machine::call(Site &site, char *result, const char *arguments) {
  LaneCall call{*this, site, *running, result, arguments};
  if (site.instruction.warp) {
    uint32_t mask =
        site.instruction.maskArgument < 0 ? ~0u : call.argument<uint32_t>(unsigned(site.instruction.maskArgument));
    meetWarp(call, mask & running->warp->lanes);
  }
  if (site.instruction.lane)
    site.instruction.lane(call);
}

static bool allAtSite(const Warp &warp, const Site *site, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const Thread &thread = warp.threads[std::countr_zero(rest)];
    if (thread.site != site || thread.mask != mask)
      return false;
  }
  return true;
}

void Machine::meetWarp(const LaneCall &call, uint32_t mask) {
  Thread &thread = call.thread;
  Warp &warp = *thread.warp;
  uint32_t self = 1u << thread.lane;
  if (!(mask & self)) {
    report(FindingKind::InactiveLane, call.site, thread, "the lane is not in the member mask that it gives");
    return;
  }
  thread.site = &call.site;
  thread.result = call.result;
  thread.arguments = call.arguments;
  thread.mask = mask;
  thread.state = ThreadState::AtWarpInstruction;
  warp.ready &= ~self;
  warp.atInstruction |= self;
  if ((warp.atInstruction & mask) != mask || !allAtSite(warp, &call.site, mask)) {
    yield();
    return;
  }
  call.site.instruction.warp({*this, call.site, warp, mask});
  warp.atInstruction &= ~mask;
  warp.ready |= mask;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    warp.threads[std::countr_zero(rest)].state = ThreadState::Ready;
  maybeSwitchWarp();
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// 9.7.13.1: the threads of a count are whole warps; all who use a barrier at a time name one count, and reductions go
/// with nothing else.
void Machine::checkArrival(const LaneCall &call, const Barrier &barrier, const BarrierUse &use) {
  auto misuse = [&](const llvm::Twine &message) {
    report(FindingKind::BarrierMisuse, call.site, call.thread, message);
  };
  if (use.count == 0 || use.count % 32)
    misuse("expected a number of threads that is a positive multiple of 32, but got " + llvm::Twine(use.count));
  if (barrier.arrived == 0)
    return;
  if (barrier.use.count != use.count)
    misuse("expected the " + llvm::Twine(barrier.use.count) + " threads of those who are at barrier " +
           llvm::Twine(use.id) + ", but got " + llvm::Twine(use.count));
  if (barrier.use.reduces != use.reduces)
    misuse("expected no reduction at barrier " + llvm::Twine(use.id) +
           " together with other instructions of barriers, but got one");
}

void Machine::barrierArrive(const LaneCall &call, const BarrierUse &use, bool wait, bool predicate) {
  Thread &thread = call.thread;
  if (use.id >= barriers.size()) {
    report(FindingKind::Deadlock, call.site, thread,
           "expected a barrier number below 16, but got " + llvm::Twine(use.id));
    return;
  }
  Barrier &barrier = barriers[use.id];
  checkArrival(call, barrier, use);
  if (barrier.arrived == 0) {
    barrier.published = {};
    barrier.lanes.fill(0);
    barrier.predicates = barrier.threads = 0;
  }
  barrier.use = use;
  barrier.predicates += predicate;
  ++barrier.threads;
  // The last warp of a block counts whole, as on the device, though some of its lanes do not exist.
  barrier.arrived += thread.lane == 0 ? 33 - unsigned(std::popcount(thread.warp->lanes)) : 1;
  barrier.lanes[thread.warp->index] |= 1u << thread.lane;
  clock.release(thread.warp->index, barrier.published);
  thread.site = &call.site;
  thread.barrier = use.id;
  if (wait) {
    thread.state = ThreadState::AtBarrier;
    thread.warp->ready &= ~(1u << thread.lane);
  } else {
    clock.advance(); // what the thread does from here on is after its arrival
  }
  if (barrier.arrived >= barrier.use.count)
    completeBarrier(use.id);
  if (wait && thread.state == ThreadState::AtBarrier)
    yield();
}

void Machine::completeBarrier(unsigned id) {
  Barrier &barrier = barriers[id];
  for (const Warp &warp : warps)
    if (uint32_t came = barrier.lanes[warp.index]; came && came != warp.lanes)
      report(FindingKind::Divergence, *running->site, *running,
             "the barrier is complete, but of warp " + llvm::Twine(warp.index) + " only " +
                 llvm::Twine(unsigned(std::popcount(came))) + " lanes are there; devices count whole warps");
  for (Thread &thread : threads) {
    if (thread.state != ThreadState::AtBarrier || thread.barrier != id)
      continue;
    thread.state = ThreadState::Ready;
    thread.warp->ready |= 1u << thread.lane;
    thread.predicates = barrier.predicates;
    thread.atBarrier = barrier.threads;
    clock.acquire(thread.warp->index, barrier.published);
  }
  barrier.arrived = 0;
  clock.advance();
  ++counters().barriers;
  flushRequests();
}

//===----------------------------------------------------------------------===//
// When nothing can run
//===----------------------------------------------------------------------===//

static std::string describeState(const Thread &thread) {
  std::string who = "thread " + std::to_string(thread.index);
  if (thread.state == ThreadState::Ended)
    return who + " has ended";
  return who + " is at " + thread.site->text;
}

std::string Machine::explainStop() {
  Thread *waiting = nullptr, *atInstruction = nullptr, *atMbarrier = nullptr;
  unsigned ended = 0;
  for (Thread &thread : threads) {
    ended += thread.state == ThreadState::Ended;
    if (thread.state == ThreadState::AtBarrier && !waiting)
      waiting = &thread;
    if (thread.state == ThreadState::AtMbarrier && !atMbarrier)
      atMbarrier = &thread;
    if (thread.state == ThreadState::AtWarpInstruction && !atInstruction)
      atInstruction = &thread;
  }
  if (ended == threads.size())
    return "";
  std::string message;
  if (atMbarrier) {
    message = describeMbarrier(atMbarrier->mbarrier) + ", and " + std::to_string(ended) + " threads have ended";
    report(FindingKind::Deadlock, *atMbarrier->site, *atMbarrier, message);
  } else if (atInstruction) {
    Thread *other = nullptr;
    for (uint32_t rest = atInstruction->mask; rest && !other; rest &= rest - 1) {
      Thread &lane = atInstruction->warp->threads[std::countr_zero(rest)];
      if (lane.state != ThreadState::AtWarpInstruction || lane.site != atInstruction->site ||
          lane.mask != atInstruction->mask)
        other = &lane;
    }
    message = "not all lanes of the warp reach this instruction: " + describeState(*atInstruction) +
              (other ? ", but " + describeState(*other) : "");
    report(FindingKind::Divergence, *atInstruction->site, *atInstruction, message);
  } else {
    const Barrier &barrier = barriers[waiting->barrier];
    message = "barrier " + std::to_string(waiting->barrier) + " waits for " + std::to_string(barrier.use.count) +
              " threads, but " + std::to_string(barrier.arrived) + " are there and " + std::to_string(ended) +
              " have ended";
    report(FindingKind::Deadlock, *waiting->site, *waiting, message);
  }
  return message;
}
