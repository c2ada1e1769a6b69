//===- Process.cpp - Which process this is, and locks that a fork frees ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"

#include <sys/mman.h>

using namespace attune::rt;

namespace {

constexpr size_t page = 4096;

/// The number of this process, on a page of its own that the system fills with zeros in the child of a fork. 0: not
/// known yet, or a system without such pages.
struct alignas(page) Wiped {
  std::atomic<uint32_t> number;
  char rest[page - sizeof(uint32_t)];
} wiped;

/// The last number that was given out in this process or an ancestor of it.
std::atomic<uint32_t> last{0};

/// Where pages cannot be wiped: the process's identity in the upper half, its number in the lower one.
std::atomic<uint64_t> known{0};

/// Before Linux 4.14 there are no such pages; emulators of Linux take any advice, sensible or not.
bool isWipedOnFork() {
  return madvise(&wiped, page, -1) != 0 && madvise(&wiped, page, MADV_WIPEONFORK) == 0;
}

uint32_t numberByIdentity() {
  uint64_t self = static_cast<uint64_t>(static_cast<uint32_t>(getpid())) << 32, seen = known.load();
  while ((seen >> 32 << 32) != self || static_cast<uint32_t>(seen) == 0) {
    uint64_t next = self | (last.fetch_add(1) + 1);
    if (known.compare_exchange_strong(seen, next))
      return static_cast<uint32_t>(next);
  }
  return static_cast<uint32_t>(seen);
}

/// Numbers rise before they are seen: a fork in between cannot give one twice.
uint32_t numberAnew() {
  if (!isWipedOnFork())
    return numberByIdentity();
  uint32_t seen = 0, next = last.fetch_add(1) + 1;
  return wiped.number.compare_exchange_strong(seen, next) ? next : seen;
}

} // namespace

uint32_t attune::rt::processNumber() {
  uint32_t number = wiped.number.load(std::memory_order_acquire);
  return number ? number : numberAnew();
}

void ProcessLock::lock() {
  uint32_t mine = processNumber() << 1, seen = 0;
  bool held = word.compare_exchange_strong(seen, mine, std::memory_order_acquire);
  while (!held) {
    if ((seen & ~1u) != mine) { // free, or held by a thread that a fork has left behind
      held = word.compare_exchange_strong(seen, mine | 1, std::memory_order_acquire);
      continue;
    }
    if (!(seen & 1) && !word.compare_exchange_strong(seen, mine | 1, std::memory_order_relaxed))
      continue;
    futexWait(word, mine | 1);
    seen = word.load(std::memory_order_relaxed);
  }
  owner.store(pthread_self(), std::memory_order_relaxed);
}

void ProcessLock::unlock() {
  owner.store(pthread_t(), std::memory_order_relaxed);
  if (word.exchange(0, std::memory_order_release) & 1)
    futexWake(word, 1);
}

bool ProcessLock::isMine() const {
  return owner.load(std::memory_order_relaxed) == pthread_self() &&
         word.load(std::memory_order_relaxed) >> 1 == processNumber();
}
