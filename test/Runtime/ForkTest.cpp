//===- ForkTest.cpp - Children of a fork while other threads are at work --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace toy;

namespace {

/// What a child does instead of ending well.
enum Outcome { Right, Wrong, Hung };

/// Runs `body` in a child, which ends with its answer; one that takes longer than `seconds` is ended.
Outcome inChild(const std::function<bool()> &body, unsigned seconds = 20) {
  pid_t child = fork();
  if (child == 0) {
    alarm(seconds);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return Hung;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Right : Wrong;
}

/// Threads that each do one thing over and over until the end of the scope.
class Busy {
public:
  explicit Busy(std::vector<std::function<void()>> loops) {
    for (auto &loop : loops)
      threads.emplace_back([this, loop] {
        while (!stop)
          loop(), ++rounds;
      });
    while (rounds < 10)
      std::this_thread::yield();
  }
  ~Busy() {
    stop = true;
    for (std::thread &thread : threads)
      thread.join();
  }
  std::atomic<int64_t> rounds{0};

private:
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
};

bool runsRight(toy_handle *handle, Case &c) { return run(handle, c.tensors) == ATTUNE_OK && c.wrongOutputs() == 0; }

TEST(Fork, TheChildRunsOnItsOwnThreadWithTheSameResult) {
  Handle handle = makeHandle(optionsWithThreads(3));
  Case c(2, 50, 60);
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK);
  EXPECT_EQ(inChild([&] {
              attune_info info = {};
              info.size = sizeof(info);
              bool alone = toy_info(handle.get(), &info) == ATTUNE_OK && info.threads == 1;
              Case again(2, 50, 60);
              bool right = runsRight(handle.get(), again);
              Handle fresh = makeHandle(optionsWithThreads(3)); // threads of the child's own
              return alone && right && fresh && runsRight(fresh.get(), again);
            }),
            Right);
}

/// Also of the handle that a thread of the parent is running at that very moment, whose locks that thread then holds.
TEST(Fork, TheChildRunsWhateverTheOtherThreadsDo) {
  Handle handle = makeHandle(optionsWithThreads(3));
  Busy busy({[&] {
               Case c(2, 60, 200);
               run(handle.get(), c.tensors);
             },
             [&] {
               size_t bytes;
               Case c(2, 60, 200);
               toy_workspace(handle.get(), &c.tensors, &bytes);
             }});
  int outcomes[3] = {};
  for (int i = 0; i < 100 && !outcomes[Hung]; ++i)
    ++outcomes[inChild([&] {
      Case c(2, 50, 60);
      return runsRight(handle.get(), c);
    })];
  EXPECT_EQ(outcomes[Wrong], 0);
  EXPECT_EQ(outcomes[Hung], 0);
}

TEST(Fork, TheChildMakesHandlesWhileOthersAreMadeAndDestroyed) {
  Busy busy({[] { makeHandle(optionsWithThreads(2)); }, [] { makeHandle(optionsWithThreads(3)); }});
  int outcomes[3] = {};
  for (int i = 0; i < 100 && !outcomes[Hung]; ++i)
    ++outcomes[inChild([&] {
      Case c(1, 50, 60);
      Handle mine = makeHandle(optionsWithThreads(2));
      return mine && runsRight(mine.get(), c);
    })];
  EXPECT_EQ(outcomes[Wrong], 0);
  EXPECT_EQ(outcomes[Hung], 0);
}

/// prepare may be half way: then the child has to prepare again, and is told so.
TEST(Fork, TheChildOfAPreparationRunsOrIsToldToPrepare) {
  Handle handle = makeHandle(optionsWithThreads(2));
  Busy busy({[&] { toy_prepare(handle.get(), nullptr); }});
  int outcomes[3] = {};
  for (int i = 0; i < 100 && !outcomes[Hung]; ++i)
    ++outcomes[inChild([&] {
      Case c(1, 50, 60);
      if (runsRight(handle.get(), c))
        return true;
      bool told = message().find("call toy_prepare first") != std::string::npos;
      return told && toy_prepare(handle.get(), nullptr) == ATTUNE_OK && runsRight(handle.get(), c);
    })];
  EXPECT_EQ(outcomes[Wrong], 0);
  EXPECT_EQ(outcomes[Hung], 0);
}

TEST(Fork, TheChildsThreadsShareTheHandle) {
  Handle handle = makeHandle(optionsWithThreads(3));
  Busy busy({[&] {
    Case c(2, 60, 200);
    run(handle.get(), c.tensors);
  }});
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(inChild([&] {
                std::atomic<int> right{0};
                std::vector<std::thread> threads;
                for (int thread = 0; thread < 3; ++thread)
                  threads.emplace_back([&] {
                    Case c(2, 50, 60);
                    right += runsRight(handle.get(), c);
                  });
                for (std::thread &thread : threads)
                  thread.join();
                return right == 3;
              }),
              Right);
}

TEST(Fork, GrandchildrenRunToo) {
  Handle handle = makeHandle(optionsWithThreads(3));
  Busy busy({[&] {
    Case c(2, 60, 200);
    run(handle.get(), c.tensors);
  }});
  Case c(1, 50, 60);
  EXPECT_EQ(inChild([&] {
              Handle mine = makeHandle(optionsWithThreads(2));
              return runsRight(mine.get(), c) && runsRight(handle.get(), c) && inChild([&] {
                       return runsRight(handle.get(), c) && runsRight(mine.get(), c);
                     }) == Right;
            }),
            Right);
}

TEST(Fork, AHandleThatTheChildDestroysStaysTheParents) {
  Handle handle = makeHandle(optionsWithThreads(3));
  Case c(1, 50, 60);
  EXPECT_EQ(inChild([&] {
              toy_destroy(handle.get());
              return toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr) == ATTUNE_ERROR_STATE;
            }),
            Right);
  EXPECT_TRUE(runsRight(handle.get(), c)) << message();
}

} // namespace
