//===- Futex.h - Waiting on a word of memory ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_FUTEX_H
#define ATTUNE_RT_COMMON_FUTEX_H

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace attune::rt {

using Word = std::atomic<uint32_t>;
static_assert(sizeof(Word) == 4, "a futex is a plain 32-bit word");

/// Sleeps if the word still holds `value`, until it is woken or for no reason.
inline void futexWait(Word &word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

inline void futexWake(Word &word, int32_t threads) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_FUTEX_H
