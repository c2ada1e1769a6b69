//===- Registry.cpp - Which handles are alive -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ticket, from the top: 01, so that it is no address that a processor would take; the library's own mark (15 bits);
// turn (27); place in the table (20). The table grows by chunks, each twice as long as the one before, which stay where
// they are.
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

#include <cstdlib>

using namespace attune::rt;

namespace attune::rt {

struct HandlePlace {
  /// Turn (32 bits), whether the ticket holds (1), calls that are under way (31).
  std::atomic<uint64_t> state;
  /// The process that the calls are of, and the handle's threads.
  std::atomic<uint32_t> process;
  uint32_t number, nextFree; ///< its own place in the table; a place + 1, or 0
  attune_rt_handle *handle;
};

} // namespace attune::rt

namespace {

constexpr uint64_t holds = uint64_t(1) << 31, callMask = holds - 1;
constexpr unsigned placeBits = 20, turnBits = 27, markBits = 15;
constexpr uint64_t noAddress = uint64_t(1) << 62;
constexpr uint32_t lastTurn = (1u << turnBits) - 1;

constexpr uint32_t firstChunk = 64, chunkCount = 14, placeCount = firstChunk * ((1u << chunkCount) - 1);
static_assert(placeCount < 1u << placeBits);

ProcessLock tableLock; ///< of what changes when handles come and go
HandlePlace first[firstChunk];
std::atomic<HandlePlace *> chunks[chunkCount] = {first};
uint32_t placesUsed = 0;
std::atomic<uint32_t> firstFree{0}; ///< place + 1

/// Another one in each library that a process has loaded: from where its table lies.
uint64_t mark() { return (reinterpret_cast<uint64_t>(&tableLock) >> 4) * 0x9e3779b97f4a7c15u >> (64 - markBits); }

uint64_t turnOf(uint64_t state) { return state >> 32; }

attune_rt_handle *ticketOf(uint32_t place, uint64_t turn) {
  uint64_t bits = noAddress | mark() << (placeBits + turnBits) | turn << placeBits | place;
  return reinterpret_cast<attune_rt_handle *>(bits);
}

/// The chunk of a place, and the place within it.
uint32_t chunkOf(uint32_t &place) {
  uint32_t chunk = 31 - static_cast<uint32_t>(__builtin_clz(place / firstChunk + 1));
  place -= firstChunk * ((1u << chunk) - 1);
  return chunk;
}

/// Null for what no ticket can be; else the place that a ticket names and its turn.
HandlePlace *findPlace(const attune_rt_handle *ticket, uint64_t &turn) {
  auto bits = reinterpret_cast<uint64_t>(ticket);
  auto place = static_cast<uint32_t>(bits & ((1u << placeBits) - 1));
  turn = bits >> placeBits & lastTurn;
  if (place >= placeCount || ticket != ticketOf(place, turn))
    return nullptr;
  HandlePlace *chunk = chunks[chunkOf(place)].load(std::memory_order_acquire);
  return chunk ? chunk + place : nullptr;
}

/// A place that no handle has; null if there is none. Under the lock; each step leaves a table that a child of a fork can
/// go on with.
HandlePlace *takePlace() {
  bool again = firstFree.load() != 0;
  uint32_t number = again ? firstFree.load() - 1 : placesUsed;
  if (number >= placeCount)
    return nullptr;
  uint32_t within = number, chunk = chunkOf(within);
  HandlePlace *places = chunks[chunk].load();
  if (!places) {
    places = static_cast<HandlePlace *>(calloc(firstChunk << chunk, sizeof(HandlePlace)));
    if (!places)
      return nullptr;
    chunks[chunk].store(places, std::memory_order_release);
  }
  if (again)
    firstFree.store(places[within].nextFree);
  else
    ++placesUsed;
  places[within].number = number;
  return places + within;
}

/// Frees the handle of a place that has neither ticket nor calls, and the place for another turn if one is left.
void releasePlace(HandlePlace &place) {
  attune_rt_handle *handle = place.handle;
  place.handle = nullptr;
  freeHandle(*handle);
  if (turnOf(place.state.load()) == lastTurn)
    return;
  LockScope lock(tableLock);
  place.nextFree = firstFree.load();
  firstFree.store(place.number + 1);
}

/// In the first call after a fork: the calls that were under way went with their threads.
void adopt(HandlePlace &place, uint32_t process) {
  LockScope lock(tableLock);
  if (place.process.load() == process)
    return;
  if (place.handle)
    leaveParent(*place.handle);
  place.state.fetch_and(~callMask);
  place.process.store(process, std::memory_order_release);
}

/// Counts a call on the place if the ticket of that turn holds.
bool enter(HandlePlace &place, uint64_t turn, uint32_t process) {
  uint64_t state = place.state.load(std::memory_order_relaxed);
  while (turnOf(state) == turn && (state & holds)) {
    if (place.process.load(std::memory_order_acquire) != process)
      adopt(place, process), state = place.state.load(std::memory_order_relaxed);
    if (place.state.compare_exchange_weak(state, state + 1, std::memory_order_acquire))
      return true;
  }
  return false;
}

/// The last call after the end of the ticket frees the handle.
void leave(HandlePlace &place) {
  uint64_t before = place.state.fetch_sub(1, std::memory_order_acq_rel);
  if (!(before & holds) && (before & callMask) == 1)
    releasePlace(place);
}

} // namespace

attune_rt_handle *attune::rt::registerHandle(attune_rt_handle &handle) {
  LockScope lock(tableLock);
  HandlePlace *place = takePlace();
  if (!place)
    return nullptr;
  place->handle = &handle;
  place->process.store(processNumber());
  uint64_t turn = turnOf(place->state.load()) + 1;
  place->state.store(turn << 32 | holds, std::memory_order_release);
  return ticketOf(place->number, turn);
}

void attune::rt::unregisterHandle(attune_rt_handle *ticket) {
  uint64_t turn;
  HandlePlace *place = findPlace(ticket, turn);
  if (!place || !enter(*place, turn, processNumber()))
    return;
  // Of two that destroy at once the second finds the ticket ended.
  place->state.fetch_and(~holds);
  leave(*place);
}

HandleUse::HandleUse(attune_rt_handle *ticket, const char *function) : process(processNumber()) {
  clearMessage();
  uint64_t turn;
  place = findPlace(ticket, turn);
  if (place && enter(*place, turn, process)) {
    handle = place->handle;
    status = checkProcess(*handle, function);
    return;
  }
  place = nullptr;
  status = fail(ATTUNE_ERROR_STATE, "%s: argument 'handle': expected a handle from create, but got %s", function,
                ticket ? "one that was destroyed or never made" : "null");
}

/// A call that began before a fork and ends after it was not counted in the child.
HandleUse::~HandleUse() {
  if (place && process == processNumber())
    leave(*place);
}
