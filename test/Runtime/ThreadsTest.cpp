//===- ThreadsTest.cpp - Threads of the library and of the host -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/ParallelFor.h"
#include "ToyData.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace toy;
using namespace attune::rt;

namespace {

/// Work that bodies share through a counter, as launches do.
struct Shared {
  std::atomic<int64_t> next{0};
  std::vector<std::atomic<int>> done;
  std::atomic<int> bodies{0};
  explicit Shared(size_t count) : done(count) {}
  static void body(void *context, int32_t) {
    auto &self = *static_cast<Shared *>(context);
    self.bodies++;
    for (int64_t i; (i = self.next.fetch_add(1)) < static_cast<int64_t>(self.done.size());)
      self.done[i]++;
  }
};

TEST(Pool, EveryPieceIsDoneOnceInEveryOfManyJobs) {
  for (int32_t threads : {2, 3, 8}) {
    ThreadPool *pool = acquirePool(threads);
    ASSERT_NE(pool, nullptr);
    EXPECT_EQ(poolThreads(pool), threads);
    for (int job = 0; job < 2000; ++job) {
      Shared work(1 + job % 7);
      runBodies(pool, std::min<int32_t>(threads, 1 + job % 5), Shared::body, &work);
      for (auto &count : work.done)
        ASSERT_EQ(count, 1);
      ASSERT_LE(work.bodies, 1 + job % 5);
    }
    releasePool(pool);
  }
}

TEST(Pool, ThreadsThatWentToSleepWakeUp) {
  ThreadPool *pool = acquirePool(4);
  for (int round = 0; round < 5; ++round) {
    usleep(3000);
    // Bodies that wait for each other: all four threads must come.
    struct Meeting {
      std::atomic<int> here{0};
      static void body(void *context, int32_t) {
        auto &here = static_cast<Meeting *>(context)->here;
        ++here;
        while (here < 4)
          std::this_thread::yield();
      }
    } meeting;
    runBodies(pool, 4, Meeting::body, &meeting);
    EXPECT_EQ(meeting.here, 4);
  }
  releasePool(pool);
}

TEST(Pool, IsSharedByHandlesOfTheSameSizeAndEndsWithTheLast) {
  ThreadPool *one = acquirePool(3), *two = acquirePool(3), *other = acquirePool(2);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, other);
  releasePool(one);
  releasePool(other);
  Shared work(10);
  runBodies(two, 3, Shared::body, &work);
  EXPECT_EQ(work.next >= 10, true);
  releasePool(two);
}

TEST(Pool, JobsFromSeveralThreadsTakeTurns) {
  ThreadPool *pool = acquirePool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int job = 0; job < 300; ++job) {
        Shared work(6);
        runBodies(pool, 3, Shared::body, &work);
        for (auto &count : work.done)
          wrong += count != 1;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
  releasePool(pool);
}

TEST(Concurrency, OneHandleFromSeveralThreads) {
  Handle handle = makeHandle(optionsWithThreads(3));
  toy_scratch_fault = 0;
  std::vector<std::thread> callers;
  std::atomic<int64_t> wrong{0}, failures{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 20; ++round) {
        Case c(1 + caller % 2, 5 + 13 * caller, 50);
        failures += run(handle.get(), c.tensors) != ATTUNE_OK;
        wrong += c.wrongOutputs();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(toy_scratch_fault, 0);
}

TEST(Concurrency, MessagesOfOtherThreadsDoNotMix) {
  Handle handle = makeHandle(optionsWithThreads(1));
  std::vector<std::thread> callers;
  std::atomic<int> mixed{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        Case c(1, 4, 5);
        c.o.shape[2] = 10 + caller;
        run(handle.get(), c.tensors);
        mixed += message().find("but got " + std::to_string(10 + caller)) == std::string::npos;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(mixed, 0);
}

struct Host {
  std::atomic<int> calls{0};
  int32_t most = 0;
  bool backwards = false;
};

void hostParallelFor(void *context, int32_t count, attune_body body, void *bodyContext) {
  Host &host = *static_cast<Host *>(context);
  host.calls++;
  host.most = std::max(host.most, count);
  if (host.backwards) { // on the calling thread, the last first
    for (int32_t i = count; i-- > 0;)
      body(bodyContext, i);
    return;
  }
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < count; ++i)
    threads.emplace_back(body, bodyContext, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ParallelFor, OfTheHostReplacesTheThreads) {
  for (bool backwards : {false, true}) {
    Host host;
    host.backwards = backwards;
    attune_options options = optionsWithThreads(4);
    options.parallel_for = hostParallelFor;
    options.parallel_for_context = &host;
    Handle handle = makeHandle(options);
    ASSERT_TRUE(handle) << message();
    Case c(2, 50, 60);
    ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
    EXPECT_EQ(c.wrongOutputs(), 0);
    EXPECT_EQ(host.calls, 2); // two kernels
    EXPECT_EQ(host.most, 4);
  }
}

TEST(ParallelFor, ThatComesBackIntoTheSameHandleGetsAnError) {
  static toy_handle *inner;
  static attune_status innerStatus;
  attune_options options = optionsWithThreads(2);
  options.parallel_for = [](void *, int32_t count, attune_body body, void *bodyContext) {
    Case c(1, 2, 3);
    innerStatus = run(inner, c.tensors);
    for (int32_t i = 0; i < count; ++i)
      body(bodyContext, i);
  };
  Handle handle = makeHandle(options);
  inner = handle.get();
  Case c(1, 5, 6);
  EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
  EXPECT_EQ(innerStatus, ATTUNE_ERROR_STATE);
}

} // namespace
