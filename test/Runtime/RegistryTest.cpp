//===- RegistryTest.cpp - Handles that are no longer, and that never were -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace toy;

namespace {

/// All entry points refuse the handle.
void expectRefused(toy_handle *handle) {
  Case c(1, 2, 3);
  size_t bytes;
  int32_t index;
  attune_info info = {};
  attune_tensor_info tensor = {};
  info.size = sizeof(info), tensor.size = sizeof(tensor);
  EXPECT_EQ(toy_prepare(handle, nullptr), ATTUNE_ERROR_STATE);
  EXPECT_EQ(toy_workspace(handle, &c.tensors, &bytes), ATTUNE_ERROR_STATE);
  EXPECT_EQ(toy_plan(handle, &c.tensors, &index), ATTUNE_ERROR_STATE);
  EXPECT_EQ(toy_info(handle, &info), ATTUNE_ERROR_STATE);
  EXPECT_EQ(toy_tensor(handle, 0, &tensor), ATTUNE_ERROR_STATE);
  EXPECT_EQ(toy_run(handle, &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_STATE);
  EXPECT_EQ(message(),
            "run: argument 'handle': expected a handle from create, but got one that was destroyed or never made");
  toy_destroy(handle);
}

TEST(Registry, RefusesWhatWasDestroyed) {
  for (int32_t threads : {1, 3}) {
    toy_handle *handle = makeHandle(optionsWithThreads(threads)).release();
    toy_destroy(handle);
    expectRefused(handle);
  }
}

TEST(Registry, RefusesWhatNeverWas) {
  int64_t own[64] = {};
  expectRefused(reinterpret_cast<toy_handle *>(own));
  for (uint64_t bits : {uint64_t(1), uint64_t(4096), ~uint64_t(0), uint64_t(1) << 62, uint64_t(1) << 63})
    expectRefused(reinterpret_cast<toy_handle *>(bits));
}

/// A new handle in the place of an old one is another one.
TEST(Registry, TellsTheNextHandleFromTheLast) {
  std::vector<toy_handle *> old;
  for (int i = 0; i < 300; ++i) {
    Handle handle = makeHandle(optionsWithThreads(1));
    ASSERT_TRUE(handle) << message();
    old.push_back(handle.get());
  }
  Handle alive = makeHandle(optionsWithThreads(1));
  attune_info info = {};
  info.size = sizeof(info);
  for (toy_handle *handle : old) {
    ASSERT_NE(handle, alive.get());
    ASSERT_EQ(toy_info(handle, &info), ATTUNE_ERROR_STATE);
  }
  EXPECT_EQ(toy_info(alive.get(), &info), ATTUNE_OK);
}

TEST(Registry, HoldsManyAtOnce) {
  std::vector<Handle> handles;
  for (int i = 0; i < 1000; ++i)
    handles.push_back(makeHandle(optionsWithThreads(1)));
  Case c(1, 50, 60);
  for (Handle &handle : handles)
    ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  toy_handle *first = handles.front().get();
  handles.clear();
  expectRefused(first);
}

TEST(Registry, HandlesComeAndGoOnManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      attune_info info = {};
      info.size = sizeof(info);
      for (int round = 0; round < 200; ++round) {
        toy_handle *handle = makeHandle(optionsWithThreads(1)).release();
        wrong += toy_info(handle, &info) != ATTUNE_OK;
        toy_destroy(handle);
        wrong += toy_info(handle, &info) != ATTUNE_ERROR_STATE;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

/// Runs that have begun end well; later ones are refused.
TEST(Registry, DestroyOnOneThreadAndRunOnOthers) {
  for (int round = 0; round < 20; ++round) {
    toy_handle *handle = makeHandle(optionsWithThreads(2)).release();
    std::vector<std::thread> threads;
    std::atomic<int> begun{0}, wrong{0};
    for (int thread = 0; thread < 3; ++thread)
      threads.emplace_back([&] {
        for (;;) {
          Case c(1, 20, 30);
          ++begun;
          attune_status status = toy_run(handle, &c.tensors, nullptr, 0, nullptr);
          if (status == ATTUNE_ERROR_STATE)
            return;
          wrong += status != ATTUNE_OK || c.wrongOutputs() != 0;
        }
      });
    while (begun < 10)
      std::this_thread::yield();
    toy_destroy(handle);
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

} // namespace
