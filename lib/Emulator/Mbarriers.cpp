//===- Mbarriers.cpp - Barriers in shared memory ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A phase is complete when all arrivals are there and no bytes are outstanding. Copies that an mbarrier follows land
// when a thread waits for the phase, as the slowest memory would have it; so a phase that does not expect its copies is
// complete before they are there, and who reads then finds them in flight.
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <bit>

using namespace attune;
using namespace attune::emulator;

static constexpr uint32_t mbarrierBytes = 8;

bool Machine::overlapsMbarrier(uint32_t offset, uint32_t bytes) const {
  auto next = mbarriers.lower_bound(offset);
  if (next != mbarriers.end() && next->first < offset + bytes)
    return true;
  return next != mbarriers.begin() && std::prev(next)->first + mbarrierBytes > offset;
}

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

void Machine::initMbarrier(const LaneCall &call, uint32_t expected) {
  auto *address = call.argument<char *>(0);
  call.site.bytes = mbarrierBytes;
  uint32_t offset = shared.offsetOf(address);
  if (shared.contains(address) && mbarriers.erase(offset))
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "the mbarrier is initialised twice, without mbarrier.inval");
  if (!checkAlignment(call.site, call.thread, address, mbarrierBytes) ||
      !accessShared(call.site, call.thread, address, SharedAccess::Write, mbarrierBytes, false))
    return;
  if (expected == 0 || expected >= (1u << 20))
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "expected a count of arrivals in 1 … 2^20 - 1, but got " + llvm::Twine(expected));
  Mbarrier &mbarrier = mbarriers[offset];
  mbarrier.expected = expected;
  mbarrier.pending = expected;
  mbarrier.initTime = clock.now();
  mbarrier.initThread = uint16_t(call.thread.index);
}

Mbarrier *Machine::mbarrierOf(const LaneCall &call, char *address) {
  auto found = shared.contains(address) ? mbarriers.find(shared.offsetOf(address)) : mbarriers.end();
  if (found == mbarriers.end()) {
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "expected an mbarrier, but nothing has initialised one here");
    return nullptr;
  }
  Mbarrier &mbarrier = found->second;
  bool own = mbarrier.initThread == call.thread.index;
  if (!own && mbarrier.initTime > clock.seen(call.thread.warp->index, mbarrier.initThread / 32))
    report(FindingKind::Race, call.site, call.thread,
           "thread " + llvm::Twine(call.thread.index) + " uses an mbarrier that thread " +
               llvm::Twine(mbarrier.initThread) + " initialised, with nothing between that orders them");
  return &mbarrier;
}

void Machine::invalidateMbarrier(const LaneCall &call) {
  auto *address = call.argument<char *>(0);
  Mbarrier *mbarrier = mbarrierOf(call, address);
  if (!mbarrier)
    return;
  if (mbarrier->waiting || !mbarrier->copies.empty())
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "the mbarrier ends while threads wait for it or copies are in flight");
  mbarriers.erase(shared.offsetOf(address));
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Lets copies land that the phase still lacks.
void Machine::landFor(Mbarrier &mbarrier) {
  for (Mbarrier::Deferred &arrival : mbarrier.deferred) {
    for (const AsyncCopy &copy : arrival.copies)
      land(*arrival.thread, copy);
    clock.release(arrival.thread->warp->index, mbarrier.arriving);
    --mbarrier.pending;
  }
  mbarrier.deferred.clear();
  size_t landed = 0;
  for (; mbarrier.transactions > 0 && landed < mbarrier.copies.size(); ++landed) {
    BulkCopy &copy = mbarrier.copies[landed];
    land(copy);
    clock.publishAsync(mbarrier.arriving);
    mbarrier.transactions -= copy.bytes;
  }
  mbarrier.copies.erase(mbarrier.copies.begin(), mbarrier.copies.begin() + ptrdiff_t(landed));
  clock.advance();
}

/// Completes the phase if it can be; with `wanted`, because a thread waits, copies land for it.
void Machine::settle(uint32_t offset, Mbarrier &mbarrier, const LaneCall *call, bool wanted) {
  if (mbarrier.pending > int64_t(mbarrier.deferred.size()))
    return;
  if (wanted || mbarrier.waiting)
    landFor(mbarrier);
  if (mbarrier.transactions < 0 && call)
    report(FindingKind::BarrierMisuse, call->site, call->thread,
           llvm::Twine(-mbarrier.transactions) + " bytes more arrive at the mbarrier than it expects");
  if (mbarrier.pending != 0 || mbarrier.transactions > 0)
    return;
  ++mbarrier.phase;
  mbarrier.transactions = 0;
  mbarrier.pending = mbarrier.expected;
  mbarrier.completed = mbarrier.arriving;
  idlePolls = 0;
  ++counters().barriers;
  for (Thread &thread : threads) {
    if (thread.state != ThreadState::AtMbarrier || thread.mbarrier != offset || !thread.wanted.isDone(mbarrier.phase))
      continue;
    thread.state = ThreadState::Ready;
    thread.phaseDone = true;
    thread.warp->ready |= 1u << thread.lane;
    clock.acquire(thread.warp->index, mbarrier.completed);
    --mbarrier.waiting;
  }
}

uint64_t Machine::arriveMbarrier(const LaneCall &call, uint32_t count, int64_t bytes) {
  auto *address = call.argument<char *>(0);
  Mbarrier *mbarrier = mbarrierOf(call, address);
  if (!mbarrier)
    return 0;
  uint32_t offset = shared.offsetOf(address);
  if (mbarrier->pending < int64_t(count)) // perhaps copies only have to land
    settle(offset, *mbarrier, &call, /*wanted=*/true);
  uint64_t phase = mbarrier->phase;
  if (mbarrier->pending < int64_t(count)) {
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "more threads arrive at the mbarrier than the " + llvm::Twine(mbarrier->expected) + " of a phase");
    return phase;
  }
  mbarrier->transactions += bytes;
  mbarrier->pending -= count;
  clock.release(call.thread.warp->index, mbarrier->arriving);
  clock.advance(); // what the thread does from here on is after its arrival
  settle(offset, *mbarrier, &call, false);
  return phase;
}

void Machine::checkIncomplete(const LaneCall &call, uint32_t count) {
  auto found = mbarriers.find(shared.offsetOf(call.argument<char *>(0)));
  if (found != mbarriers.end() && found->second.pending <= int64_t(count))
    report(FindingKind::BarrierMisuse, call.site, call.thread,
           "expected that a phase of the mbarrier lacks more than these " + llvm::Twine(count) +
               " arrivals, as .noComplete says, but it lacks " + llvm::Twine(found->second.pending));
}

void Machine::addTransactions(const LaneCall &call, int64_t bytes) {
  auto *address = call.argument<char *>(0);
  if (Mbarrier *mbarrier = mbarrierOf(call, address)) {
    mbarrier->transactions += bytes;
    settle(shared.offsetOf(address), *mbarrier, &call, false);
  }
}

bool Machine::waitMbarrier(const LaneCall &call, PhaseWanted wanted, bool blocking) {
  auto *address = call.argument<char *>(0);
  Mbarrier *mbarrier = mbarrierOf(call, address);
  if (!mbarrier)
    return true;
  uint32_t offset = shared.offsetOf(address);
  // Who asks may ask too early, however much has been done: the first answer is no, which orders nothing.
  std::tuple question(offset, wanted.value, wanted.parity);
  if (!blocking && call.thread.asked.insert(question).second)
    return false;
  call.thread.asked.erase(question);
  if (!wanted.isDone(mbarrier->phase))
    settle(offset, *mbarrier, &call, /*wanted=*/true);
  if (wanted.isDone(mbarrier->phase)) {
    clock.acquire(call.thread.warp->index, mbarrier->completed);
    return true;
  }
  Thread &thread = call.thread;
  thread.site = &call.site;
  thread.mbarrier = offset;
  thread.wanted = wanted;
  thread.blocking = blocking;
  thread.phaseDone = false;
  thread.state = ThreadState::AtMbarrier;
  thread.warp->ready &= ~(1u << thread.lane);
  ++mbarrier->waiting;
  yield();
  return thread.phaseDone;
}

void Machine::arriveAfterCopies(const LaneCall &call, bool counted) {
  auto *address = call.argument<char *>(0);
  Mbarrier *mbarrier = mbarrierOf(call, address);
  if (!mbarrier)
    return;
  Thread &thread = call.thread;
  mbarrier->pending += !counted;
  mbarrier->deferred.push_back({&thread, std::move(thread.copies)});
  thread.copies.clear();
  thread.groups.assign(thread.groups.size(), 0);
  settle(shared.offsetOf(address), *mbarrier, &call, false);
}

//===----------------------------------------------------------------------===//
// When nothing can run
//===----------------------------------------------------------------------===//

/// Threads that only ask whether a phase is complete get an answer, but not for ever.
bool Machine::releasePolling() {
  static constexpr unsigned mostIdlePolls = 64;
  if (++idlePolls > mostIdlePolls)
    return false;
  bool any = false;
  for (Thread &thread : threads) {
    if (thread.state != ThreadState::AtMbarrier || thread.blocking)
      continue;
    thread.state = ThreadState::Ready;
    thread.warp->ready |= 1u << thread.lane;
    --mbarriers[thread.mbarrier].waiting;
    any = true;
  }
  return any;
}

std::string Machine::describeMbarrier(uint32_t offset) const {
  const Mbarrier &mbarrier = mbarriers.at(offset);
  const SharedMemory::Buffer *buffer = shared.nearestBuffer(offset);
  std::string where = buffer ? " at byte " + std::to_string(offset - buffer->begin) + " of '" + buffer->name + "'" : "";
  return "phase " + std::to_string(mbarrier.phase) + " of the mbarrier" + where + " lacks " +
         std::to_string(mbarrier.pending) + " of " + std::to_string(mbarrier.expected) + " arrivals and " +
         std::to_string(mbarrier.transactions) + " bytes, and " + std::to_string(mbarrier.copies.size()) +
         " copies to it are in flight";
}

/// After the last thread: what nobody waited for, and warps of a group that went different ways.
void Machine::checkEnd() {
  for (auto &[offset, mbarrier] : mbarriers)
    if (!mbarrier.copies.empty())
      report(FindingKind::CopyNotWaited, *mbarrier.copies.front().site, *mbarrier.copies.front().thread,
             "the block ends, but a bulk copy is in flight; wait for the phase of its mbarrier before the end");
  for (size_t first = 0; first < warps.size(); first += 4)
    for (size_t i = first; i < std::min(first + 4, warps.size()); ++i) {
      Thread &thread = warps[i].threads[0];
      if (!warps[i].products.inFlight.empty())
        report(FindingKind::CopyNotWaited, *thread.site, thread, "the block ends, but products of wgmma are in flight");
      if (warps[i].products.issued != warps[first].products.issued)
        report(FindingKind::Divergence, *thread.site, thread,
               "the warps of a group of four did not reach the same instructions of wgmma");
    }
}
