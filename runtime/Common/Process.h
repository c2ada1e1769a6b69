//===- Process.h - Which process this is, and locks that a fork frees -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child of a fork has the thread that called fork and no other; what the others held at that moment stays held for
// ever. Handlers of pthread_atfork could take every lock first, but a fork would then wait for the longest run, and a
// library that was unloaded would leave its handlers behind. So locks say in which process they were taken instead.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_PROCESS_H
#define ATTUNE_RT_COMMON_PROCESS_H

#include "Futex.h"

#include <pthread.h>

namespace attune::rt {

/// A number from 1 on that is another one in a child of a fork than in any of its ancestors.
uint32_t processNumber();

/// A lock that a child of a fork finds free, whoever held it in the parent. Zero is a free lock.
class ProcessLock {
public:
  void lock();
  void unlock();
  /// Whether the calling thread holds it.
  bool isMine() const;

private:
  Word word{0};                   ///< twice the number of the process of the thread that holds it, plus 1 if others may wait
  std::atomic<pthread_t> owner{}; ///< of this process if the word is
};

/// Holds a lock for a scope.
class LockScope {
public:
  explicit LockScope(ProcessLock &lock) : lock(lock) { lock.lock(); }
  ~LockScope() { lock.unlock(); }
  LockScope(const LockScope &) = delete;
  LockScope &operator=(const LockScope &) = delete;

private:
  ProcessLock &lock;
};

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_PROCESS_H
