//===- ParallelFor.h - The library's own threads, kept between runs -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CPU_PARALLELFOR_H
#define ATTUNE_RT_CPU_PARALLELFOR_H

#include "attune-rt/attune.h"

namespace attune::rt {

class ThreadPool;

/// CPUs that this process may run on.
int32_t availableCpus();

/// The pool of `threads` threads, the caller of runBodies counted; shared by all handles that ask for the same number.
/// Null if memory or not a single thread can be had.
ThreadPool *acquirePool(int32_t threads);
void releasePool(ThreadPool *pool);

/// Threads that the pool really has.
int32_t poolThreads(const ThreadPool *pool);

/// Runs body(context, 0) on the calling thread and body(context, i), 0 < i < count, on threads of the pool, each at
/// most once, and returns when all that began have returned. A thread that is late is not waited for: bodies share the
/// work through a counter, so what is left when body 0 returns is nothing. One call at a time; others wait.
void runBodies(ThreadPool *pool, int32_t count, attune_body body, void *context);

} // namespace attune::rt

#endif // ATTUNE_RT_CPU_PARALLELFOR_H
