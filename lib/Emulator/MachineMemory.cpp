//===- MachineMemory.cpp - Accesses to memory and their checks ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace attune;
using namespace attune::emulator;

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

void Machine::add(FindingKind kind, Site &site, const Thread &thread, std::string buffer, uint64_t address,
                  uint32_t bytes, std::string message) {
  Finding finding{kind,    launch.kernel, blockIndex,         thread.index, std::move(buffer),
                  address, bytes,         std::move(message), site.text,    site.location};
  log.add(std::move(finding), site);
}

void Machine::report(FindingKind kind, Site &site, const Thread &thread, const llvm::Twine &message) {
  if (!log.repeats(kind, site))
    add(kind, site, thread, "", 0, 0, message.str());
}

static std::string place(const std::string &buffer, int64_t offset, size_t bytes) {
  if (offset >= int64_t(bytes))
    return std::to_string(offset - int64_t(bytes)) + " bytes beyond the end of '" + buffer + "' (" +
           std::to_string(bytes) + " bytes)";
  if (offset < 0)
    return std::to_string(-offset) + " bytes before '" + buffer + "'";
  return "byte " + std::to_string(offset) + " of '" + buffer + "' (" + std::to_string(bytes) + " bytes)";
}

static const char *verb(SharedAccess kind) {
  switch (kind) {
  case SharedAccess::Read:
    return "reads";
  case SharedAccess::Write:
    return "writes";
  case SharedAccess::Atomic:
    return "updates";
  case SharedAccess::CopyBegin:
    return "copies to";
  case SharedAccess::AsyncRead:
    return "reads, by the async proxy,";
  }
  llvm_unreachable("every access is above");
}

void Machine::describeSharedFault(Site &site, Thread &thread, const SharedFault &fault, SharedAccess kind) {
  if (log.repeats(fault.kind, site))
    return;
  const SharedMemory::Buffer *buffer = shared.nearestBuffer(fault.offset);
  // The first byte of a word may lie before a buffer of odd alignment.
  int64_t offset = buffer ? std::max<int64_t>(0, int64_t(fault.offset) - buffer->begin) : 0;
  std::string where = buffer ? place(buffer->name, offset, buffer->bytes) : "shared memory";
  std::string other = fault.other == SharedFault::noThread     ? "other lanes"
                      : fault.other == OrderClock::asyncThread ? "a bulk copy"
                                                               : "thread " + std::to_string(fault.other);
  std::string message = "thread " + std::to_string(thread.index) + " " + verb(kind) + " " + where;
  if (fault.kind == FindingKind::Race)
    message += ", which " + other + (fault.otherWrote ? " wrote" : " read") + ", with nothing between that orders them";
  else if (fault.kind == FindingKind::CopyInFlight && !fault.otherWrote)
    message += " while a copy or a product is still reading there";
  else if (fault.kind == FindingKind::CopyInFlight)
    message += " while a copy of " + other + " is in flight there";
  else if (fault.kind == FindingKind::ProxyOrder)
    message += ", which " + other + " wrote, without fence.proxy.async between";
  else
    message += ", which nothing has written";
  add(fault.kind, site, thread, buffer ? buffer->name : "", uint64_t(offset), site.bytes, std::move(message));
}

bool Machine::checkAlignment(Site &site, Thread &thread, const void *address, uint32_t alignment) {
  if (uintptr_t(address) % alignment == 0)
    return true;
  report(FindingKind::Misaligned, site, thread,
         "expected an address that is a multiple of " + llvm::Twine(alignment) + ", but got one that is " +
             llvm::Twine(uint64_t(uintptr_t(address) % alignment)) + " bytes past");
  return false;
}

//===----------------------------------------------------------------------===//
// Shared and global memory
//===----------------------------------------------------------------------===//

char *Machine::accessShared(Site &site, Thread &thread, char *address, SharedAccess kind, uint32_t bytes,
                            bool wholeWarp) {
  uint32_t offset = shared.offsetOf(address);
  if (!shared.contains(address) || !shared.bufferOf(offset, bytes)) {
    if (!log.repeats(FindingKind::OutOfBounds, site)) {
      const SharedMemory::Buffer *buffer = shared.contains(address) ? shared.nearestBuffer(offset) : nullptr;
      int64_t at = buffer ? int64_t(offset) - buffer->begin : 0;
      add(FindingKind::OutOfBounds, site, thread, buffer ? buffer->name : "", uint64_t(at), bytes,
          "thread " + std::to_string(thread.index) + " " + verb(kind) + " " + std::to_string(bytes) + " bytes at " +
              (buffer ? place(buffer->name, at, buffer->bytes) : "an address outside shared memory"));
    }
    return nullptr;
  }
  if (!mbarriers.empty() && overlapsMbarrier(offset, bytes))
    report(FindingKind::BarrierMisuse, site, thread,
           "thread " + llvm::Twine(thread.index) + " " + verb(kind) + " memory that is an mbarrier");
  Accessor who{uint16_t(thread.warp->index), uint8_t(thread.lane), wholeWarp};
  if (auto fault = shared.access(clock, who, kind, offset, bytes))
    describeSharedFault(site, thread, *fault, kind);
  return address;
}

char *Machine::accessGlobal(Site &site, Thread &thread, char *address, uint32_t bytes, bool store,
                             Atomicity atomic) {
  GlobalMemory::Buffer *buffer = global.find(address, bytes);
  if (!buffer) {
    if (log.repeats(FindingKind::OutOfBounds, site))
      return nullptr;
    const GlobalMemory::Buffer *near = global.before(address);
    int64_t at = near ? address - near->begin : int64_t(uintptr_t(address));
    add(FindingKind::OutOfBounds, site, thread, near ? near->name : "", uint64_t(at), bytes,
        "thread " + std::to_string(thread.index) + (store ? " writes " : " reads ") + std::to_string(bytes) +
            " bytes at " + (near ? place(near->name, at, near->bytes) : "an address below every global buffer"));
    return nullptr;
  }
  // A generic address may be one of constants; ld.const takes those, and no other instruction does.
  bool generic = site.space != MemorySpace::Global && !store;
  if (buffer->constant != site.ofConstants && !(generic && buffer->constant))
    report(FindingKind::OutOfBounds, site, thread,
           "expected an address of " + llvm::Twine(site.ofConstants ? "constant" : "global") + " memory, but '" +
               buffer->name + "' is not there" + (store ? ", or is not written" : ""));
  GlobalMemory::Access access{linearBlock(), uint16_t(thread.index), store, atomic, site.readsConstant};
  auto conflict = global.access(*buffer, address, bytes, clock, access);
  if (conflict && !log.repeats(FindingKind::Race, site))
    add(FindingKind::Race, site, thread, buffer->name, conflict->offset, bytes,
        "thread " + std::to_string(thread.index) + " of block " + std::to_string(access.block) +
            (store ? " writes " : " reads ") + place(buffer->name, int64_t(conflict->offset), buffer->bytes) +
            (conflict->constant ? ", which ld.global.nc has read in the same launch"
                                : ", which thread " + std::to_string(conflict->thread) + " of block " +
                                      std::to_string(conflict->block) + " wrote in the same launch"));
  return address;
}

void Machine::orderAccess(Site &site, const void *address, bool stores) {
  Actor actor{linearBlock(), uint16_t(running->index)};
  global.order.access(clock, actor, address, site.ordering, site.load, stores);
  clock.advance(); // what the thread does from here on comes after
}

void Machine::orderFence(Ordering ordering) {
  global.order.fence(clock, {linearBlock(), uint16_t(running->index)}, ordering);
  clock.advance();
}

static Atomicity atomicityOf(const Site &site) {
  return site.ordering.atomic ? Atomicity::Device : site.atomic() ? Atomicity::Block : Atomicity::None;
}

void *Machine::access(Site &site, void *pointer) {
  Thread &thread = *running;
  char *address = static_cast<char *>(pointer);
  bool isShared = site.space == MemorySpace::Shared;
  if (site.space == MemorySpace::Generic) {
    if (stacks.contains(thread.index, address))
      return address;
    isShared = shared.contains(address);
  }
  bool aligned = checkAlignment(site, thread, address, site.alignment);
  char *usable;
  if (isShared) {
    SharedAccess kind = site.atomic() ? SharedAccess::Atomic : site.store ? SharedAccess::Write : SharedAccess::Read;
    usable = accessShared(site, thread, address, kind, site.bytes, false);
    counters().sharedLoadBytes += site.load ? site.bytes : 0;
    counters().sharedStoreBytes += site.store ? site.bytes : 0;
    if (usable)
      joinRequest(site, thread, MemorySpace::Shared, shared.offsetOf(address));
  } else {
    usable = accessGlobal(site, thread, address, site.bytes, site.store, atomicityOf(site));
    counters().globalLoadBytes += site.load ? site.bytes : 0;
    counters().globalStoreBytes += site.store ? site.bytes : 0;
    if (usable)
      joinRequest(site, thread, MemorySpace::Global, uint64_t(uintptr_t(address)));
  }
  if (usable && aligned)
    return usable;
  std::memset(harmless, 0, site.bytes);
  return harmless;
}

char *Machine::matrixRow(Site &site, Thread &thread, void *address, bool store) {
  site.bytes = 16;
  if (!options.check)
    return static_cast<char *>(address);
  if (!checkAlignment(site, thread, address, 16))
    return nullptr;
  return accessShared(site, thread, static_cast<char *>(address), store ? SharedAccess::Write : SharedAccess::Read, 16,
                      true);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void Machine::startCopy(const LaneCall &call, uint32_t bytes, uint32_t sourceBytes) {
  if (sourceBytes > bytes)
    report(FindingKind::OutOfBounds, call.site, call.thread,
           "expected a src-size of at most the " + llvm::Twine(bytes) + " bytes of cp-size, but got " +
               llvm::Twine(sourceBytes));
  AsyncCopy copy{call.argument<char *>(0), call.argument<const char *>(1), bytes, std::min(bytes, sourceBytes),
                 &call.site};
  ++counters().asyncCopies;
  counters().asyncCopyBytes += copy.sourceBytes;
  Thread &thread = call.thread;
  call.site.bytes = call.site.alignment = bytes;
  if (options.check) {
    bool aligned = checkAlignment(call.site, thread, copy.destination, bytes) &&
                   (copy.sourceBytes == 0 || checkAlignment(call.site, thread, copy.source, bytes));
    if (!aligned || !accessShared(call.site, thread, copy.destination, SharedAccess::CopyBegin, bytes, false))
      return;
    joinRequest(call.site, thread, MemorySpace::Shared, shared.offsetOf(copy.destination));
    auto *source = const_cast<char *>(copy.source);
    if (copy.sourceBytes && accessGlobal(call.site, thread, source, copy.sourceBytes, false, Atomicity::None))
      joinRequest(call.site, thread, MemorySpace::Global, uint64_t(uintptr_t(source)));
    else
      copy.sourceBytes = 0;
  }
  thread.copies.push_back(copy);
}

void Machine::commitCopies(Thread &thread) { thread.groups.push_back(thread.copies.size()); }

void Machine::land(Thread &thread, const AsyncCopy &copy) {
  if (copy.sourceBytes) // else the source may be null
    std::memcpy(copy.destination, copy.source, copy.sourceBytes);
  std::memset(copy.destination + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
  if (options.check)
    shared.land(clock, uint16_t(thread.index), shared.offsetOf(copy.destination), copy.bytes);
}

void Machine::land(Thread &thread, size_t count) {
  for (size_t i = 0; i < count; ++i)
    land(thread, thread.copies[i]);
  thread.copies.erase(thread.copies.begin(), thread.copies.begin() + ptrdiff_t(count));
  for (size_t &end : thread.groups)
    end -= std::min(end, count);
}

void Machine::waitCopies(Thread &thread, size_t pendingGroups) {
  if (thread.groups.size() <= pendingGroups)
    return;
  size_t done = thread.groups.size() - pendingGroups;
  size_t landed = thread.groups[done - 1];
  thread.groups.erase(thread.groups.begin(), thread.groups.begin() + ptrdiff_t(done));
  land(thread, landed);
}

void Machine::waitAllCopies(Thread &thread) {
  thread.groups.clear();
  land(thread, thread.copies.size());
}

//===----------------------------------------------------------------------===//
// Bank conflicts and sectors
//===----------------------------------------------------------------------===//

/// One phase: the distinct words that fall into one of the 32 banks are served one after another.
void Machine::countBankPhase(Site &site, llvm::ArrayRef<uint32_t> offsets, uint32_t bytes) {
  if (offsets.empty())
    return;
  std::array<uint32_t, 32> first; // the first word seen of each bank; further ones are rare and stand in `more`
  std::array<uint8_t, 32> waves{};
  uint32_t more[128];
  unsigned count = 0;
  uint8_t most = 1;
  for (uint32_t offset : offsets)
    for (uint32_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      unsigned bank = word % 32;
      if (waves[bank] == 0) {
        first[bank] = word;
        waves[bank] = 1;
      } else if (first[bank] != word && std::find(more, more + count, word) == more + count) {
        more[count++] = word;
        most = std::max(most, ++waves[bank]);
      }
    }
  ++site.bankUse.phases;
  site.bankUse.waves += most;
}

/// A wide access is served in phases of 128 bytes: half or quarter warps.
void Machine::countBanks(Site &site, const WarpRequests::Request &request) {
  // A vector whose alignment does not allow one access is read in pieces of its alignment.
  uint32_t width = std::min<uint32_t>({site.bytes, std::max<uint32_t>(site.alignment, 1), 16});
  unsigned lanesPerPhase = width <= 4 ? 32 : width <= 8 ? 16 : 8;
  ++site.bankUse.requests;
  for (uint32_t piece = 0; piece < site.bytes; piece += width)
    for (unsigned begin = 0; begin < 32; begin += lanesPerPhase) {
      uint32_t offsets[32];
      unsigned count = 0;
      for (unsigned lane = begin; lane < begin + lanesPerPhase; ++lane)
        if (request.lanes >> lane & 1)
          offsets[count++] = uint32_t(request.addresses[lane]) + piece;
      countBankPhase(site, {offsets, count}, std::min(width, site.bytes - piece));
    }
}

void Machine::countSectors(Site &site, const WarpRequests::Request &request) {
  llvm::SmallVector<uint64_t, 128> sectors;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(request.lanes >> lane & 1))
      continue;
    for (uint64_t s = request.addresses[lane] / 32; s <= (request.addresses[lane] + site.bytes - 1) / 32; ++s)
      if (sectors.empty() || sectors.back() != s)
        sectors.push_back(s);
  }
  std::sort(sectors.begin(), sectors.end());
  site.sectorUse.sectors += uint64_t(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
  site.sectorUse.bytes += uint64_t(site.bytes) * unsigned(std::popcount(request.lanes));
  ++site.sectorUse.requests;
}

/// What the warp asked for; lanes at one address count once.
void Machine::countBytes(const Site &site, const WarpRequests::Request &request) {
  llvm::SmallVector<uint64_t, 32> addresses;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (request.lanes >> lane & 1)
      addresses.push_back(request.addresses[lane]);
  std::sort(addresses.begin(), addresses.end());
  auto distinct = uint64_t(std::unique(addresses.begin(), addresses.end()) - addresses.begin());
  counters().globalBytes += distinct * site.bytes;
  if (std::min<uint64_t>(site.bytes, site.alignment) >= 16)
    counters().wideGlobalBytes += distinct * site.bytes;
  ++(site.bytes < 4    ? counters().narrowRequests
     : site.bytes < 8  ? counters().requestsOf4
     : site.bytes < 16 ? counters().requestsOf8
                       : counters().requestsOf16);
}

void Machine::finishRequest(Site &site, MemorySpace space, WarpRequests::Request &request) {
  if (space == MemorySpace::Shared)
    countBanks(site, request);
  else
    countSectors(site, request), countBytes(site, request);
  request.lanes = 0;
}

/// Adds a lane to the request of its warp that it takes part in.
void Machine::joinRequest(Site &site, const Thread &thread, MemorySpace space, uint64_t address) {
  auto &byWarp = space == MemorySpace::Shared ? site.sharedRequests : site.globalRequests;
  WarpRequests &pending = byWarp[thread.warp->index];
  if (!site.flushPending) {
    site.flushPending = true;
    openSites.push_back(&site);
  }
  uint32_t turn = pending.next[thread.lane]++;
  if (turn >= pending.requests.size()) {
    pending.requests.resize(turn + 1);
    ++pending.open;
  }
  WarpRequests::Request &request = pending.requests[turn];
  request.lanes |= 1u << thread.lane;
  request.addresses[thread.lane] = address;
  if (request.lanes != thread.warp->lanes)
    return;
  finishRequest(site, space, request);
  if (--pending.open == 0) { // every lane has come as often
    pending.next.fill(0);
    pending.requests.clear();
  }
}

void Machine::flush(Site &site, MemorySpace space, WarpRequests &pending) {
  for (WarpRequests::Request &request : pending.requests)
    if (request.lanes)
      finishRequest(site, space, request);
  pending.requests.clear();
  pending.next.fill(0);
  pending.open = 0;
}

/// At a barrier every lane is at the same place again: what is open stays partial.
void Machine::flushRequests() {
  for (Site *site : openSites) {
    site->flushPending = false;
    for (WarpRequests &pending : site->sharedRequests)
      flush(*site, MemorySpace::Shared, pending);
    for (WarpRequests &pending : site->globalRequests)
      flush(*site, MemorySpace::Global, pending);
  }
  openSites.clear();
}
