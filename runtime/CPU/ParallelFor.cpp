//===- ParallelFor.cpp - The library's own threads, kept between runs -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of a library is a handful of parallel regions a few microseconds apart, so a thread that has finished one looks
// for the next for a while before it sleeps, and the caller never waits for a thread that slept through a whole region.
//
// The job word holds, from the top: number of the job (32 bits), whether it may still be joined (1), threads inside it
// (31). A thread joins by adding one to a word that it has just seen open; so once the caller has closed the job, the
// count can only fall, and the job's fields stay valid for whoever is counted.
//
//===----------------------------------------------------------------------===//

#include "ParallelFor.h"

#include "Common/Process.h"

#include <cstdlib>
#include <ctime>
#include <new>
#include <sched.h>
#include <signal.h>

using namespace attune::rt;

namespace {

constexpr int64_t spinNanoseconds = 40'000;
constexpr size_t stackBytes = 1 << 20; // kernels keep their tiles in scratch, not on the stack
constexpr uint64_t openBit = uint64_t(1) << 31;
constexpr uint64_t insideMask = openBit - 1;

int64_t nowNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

/// Polls `ready` for the time of a spin; true as soon as it holds.
template <typename Ready> bool spinUntil(bool spin, Ready ready) {
  if (ready())
    return true;
  if (!spin)
    return false;
  int64_t end = nowNanoseconds() + spinNanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      __builtin_ia32_pause();
    }
  } while (nowNanoseconds() < end);
  return false;
}

} // namespace

namespace attune::rt {

class ThreadPool {
public:
  bool start(int32_t wanted);
  void stop();
  void run(int32_t bodies, attune_body body, void *context);

  int32_t asked = 0;   // key of the registry
  int32_t threads = 1; // with the caller
  int32_t users = 0;
  uint32_t process = processNumber(); // a child of a fork inherits the pool without its threads
  ThreadPool *next = nullptr;

private:
  struct Worker {
    ThreadPool *pool;
    int32_t index;
    pthread_t thread;
  };
  static void *enter(void *worker);
  void work(int32_t index);
  bool join(uint64_t &seen);
  void leave();

  alignas(64) std::atomic<uint64_t> job{0};
  attune_body body = nullptr;
  void *context = nullptr;
  int32_t bodies = 0;
  alignas(64) Word wakeups{0}; // rises with each job; sleeping threads wait on it
  std::atomic<int32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  alignas(64) Word departures{0}; // rises as threads leave a closed job; the caller waits on it
  std::atomic<bool> callerSleeps{false};
  ProcessLock oneJob;
  bool spin = true;
  Worker *workers = nullptr;
};

} // namespace attune::rt

bool ThreadPool::start(int32_t wanted) {
  asked = wanted;
  // With more threads than CPUs, spinning would keep the CPU from the thread that has the work.
  spin = wanted <= availableCpus();
  workers = static_cast<Worker *>(calloc(static_cast<size_t>(wanted), sizeof(Worker)));
  if (!workers)
    return false;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  // The host's signal handlers belong on the host's threads, but for signals of a thread's own instructions: these end the
  // process where they are blocked, without its handler.
  sigset_t all, before;
  sigfillset(&all);
  for (int own : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV})
    sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (threads < wanted) {
    Worker &worker = workers[threads];
    worker.pool = this;
    worker.index = threads;
    if (pthread_create(&worker.thread, &attributes, enter, &worker) != 0)
      break;
    ++threads;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return true;
}

void ThreadPool::stop() {
  stopping.store(true);
  wakeups.fetch_add(1);
  futexWake(wakeups, INT32_MAX);
  for (int32_t index = 1; index < threads; ++index)
    pthread_join(workers[index].thread, nullptr);
  free(workers);
}

void *ThreadPool::enter(void *worker) {
  pthread_setname_np(pthread_self(), "attune"); // for profilers and debuggers
  auto *self = static_cast<Worker *>(worker);
  self->pool->work(self->index);
  return nullptr;
}

/// Joins the job if it is another than `seen` and open.
bool ThreadPool::join(uint64_t &seen) {
  uint64_t word = job.load(std::memory_order_acquire);
  while ((word >> 32) != seen) {
    if (!(word & openBit)) {
      seen = word >> 32;
      return false;
    }
    if (job.compare_exchange_weak(word, word + 1, std::memory_order_acquire)) {
      seen = word >> 32;
      return true;
    }
  }
  return false;
}

void ThreadPool::leave() {
  uint64_t before = job.fetch_sub(1);
  if ((before & insideMask) != 1 || (before & openBit))
    return;
  departures.fetch_add(1);
  if (callerSleeps.load())
    futexWake(departures, INT32_MAX);
}

void ThreadPool::work(int32_t index) {
  uint64_t seen = 0;
  for (;;) {
    uint32_t ticket = wakeups.load(); // before looking for work or the end, which both change it afterwards
    if (stopping.load())
      return;
    if (join(seen)) {
      if (index < bodies)
        body(context, index);
      leave();
      continue;
    }
    if (spinUntil(spin, [&] { return wakeups.load(std::memory_order_relaxed) != ticket; }))
      continue;
    // Counted before the kernel compares the ticket: a caller that does not see the sleeper has changed the ticket.
    sleepers.fetch_add(1);
    futexWait(wakeups, ticket);
    sleepers.fetch_sub(1);
  }
}

void ThreadPool::run(int32_t count, attune_body run, void *argument) {
  oneJob.lock();
  body = run;
  context = argument;
  bodies = count;
  uint64_t number = (job.load(std::memory_order_relaxed) >> 32) + 1;
  job.store(number << 32 | openBit);
  wakeups.fetch_add(1);
  if (sleepers.load() > 0)
    futexWake(wakeups, INT32_MAX);

  run(argument, 0);

  job.fetch_and(~openBit);
  auto empty = [&] { return (job.load(std::memory_order_acquire) & insideMask) == 0; };
  while (!spinUntil(spin, empty)) {
    uint32_t ticket = departures.load();
    callerSleeps.store(true);
    if (!empty())
      futexWait(departures, ticket);
    callerSleeps.store(false);
  }
  oneJob.unlock();
}

namespace {
ProcessLock registryLock;
ThreadPool *registry = nullptr;
} // namespace

int32_t attune::rt::availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
  long online = sysconf(_SC_NPROCESSORS_ONLN); // more CPUs than a cpu_set_t holds
  return online > 0 ? static_cast<int32_t>(online) : 1;
}

ThreadPool *attune::rt::acquirePool(int32_t threads) {
  registryLock.lock();
  ThreadPool *pool = registry;
  while (pool && (pool->asked != threads || pool->process != processNumber()))
    pool = pool->next;
  if (!pool) {
    void *memory = nullptr;
    if (posix_memalign(&memory, alignof(ThreadPool), sizeof(ThreadPool)) == 0) {
      pool = new (memory) ThreadPool;
      if (pool->start(threads)) {
        pool->next = registry;
        registry = pool;
      } else {
        free(pool);
        pool = nullptr;
      }
    }
  }
  if (pool)
    ++pool->users;
  registryLock.unlock();
  return pool;
}

void attune::rt::releasePool(ThreadPool *pool) {
  registryLock.lock();
  bool last = --pool->users == 0 && pool->process == processNumber();
  if (last) {
    ThreadPool **link = &registry;
    while (*link != pool)
      link = &(*link)->next;
    *link = pool->next;
  }
  registryLock.unlock();
  if (!last)
    return;
  pool->stop();
  free(pool);
}

int32_t attune::rt::poolThreads(const ThreadPool *pool) { return pool->threads; }

void attune::rt::runBodies(ThreadPool *pool, int32_t count, attune_body body, void *context) {
  if (pool->process == processNumber())
    pool->run(count, body, context);
  else
    body(context, 0);
}
