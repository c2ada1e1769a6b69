//===- RunTest.cpp - Values, strides, optional tensors, empty sizes -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace toy;

namespace {

struct Sizes {
  int64_t batch, queries, keys;
};

/// Both plans, more and fewer queries than keys.
constexpr Sizes sizes[] = {{1, 1, 1}, {2, 7, 13}, {3, 64, 64}, {2, 130, 40}, {1, 50, 300}};

class Run : public testing::TestWithParam<int> {};

TEST_P(Run, RowMajorTensors) {
  Handle handle = makeHandle(optionsWithThreads(GetParam()));
  ASSERT_TRUE(handle) << message();
  for (Sizes s : sizes) {
    Case c(s.batch, s.queries, s.keys);
    ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
    EXPECT_EQ(c.wrongOutputs(), 0) << s.batch << " " << s.queries << " " << s.keys;
  }
  EXPECT_EQ(toy_scratch_fault, 0);
}

TEST_P(Run, SequenceMajorTensors) {
  Handle handle = makeHandle(optionsWithThreads(GetParam()));
  ASSERT_TRUE(handle) << message();
  for (Sizes s : sizes) {
    Case c(s.batch, s.queries, s.keys, /*sequenceMajorInputs=*/true);
    ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
    EXPECT_EQ(c.wrongOutputs(), 0) << s.batch << " " << s.queries << " " << s.keys;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Run, testing::Values(1, 2, 5));

TEST(Strides, NullMeansRowMajor) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(2, 9, 11);
  c.q.tensor.strides = c.k.tensor.strides = c.o.tensor.strides = c.keyLengths.tensor.strides = nullptr;
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Strides, OfDimensionsOfSizeOneAreNotLookedAt) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 1, 3);
  c.q.strides[0] = c.o.strides[0] = 123456789;
  c.q.strides[2] = INT64_MIN;
  c.o.strides[2] = 0;
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Strides, AnInputMayRepeatRowsAndRunBackwards) {
  Handle handle = makeHandle(optionsWithThreads(2));
  Case c(2, 6, 8);
  c.k.strides[2] = 0;
  c.q.tensor.data = c.q.data() + 5 * c.q.strides[2];
  c.q.strides[2] = -c.q.strides[2];
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Strides, ByteOffsetIsHonoured) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 6, 8);
  c.v.tensor.data = static_cast<char *>(c.v.tensor.data) - 8;
  c.v.tensor.byte_offset = 8;
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  c.v.tensor.data = static_cast<char *>(c.v.tensor.data) + 8;
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Optional, ResultsAndInitialState) {
  Handle handle = makeHandle(optionsWithThreads(2));
  Case c(2, 60, 70); // the plan through a state, which writes final_state
  c.addOptional();
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
  EXPECT_EQ(c.finalState.at({1, 1, 2, 4}), c.expectedState(1, 1, 2, 4));
  EXPECT_EQ(c.lse.at({1, 3, 59}), c.expectedLse(1, 3, 59));
}

TEST(Optional, AStructOfAnOlderHeaderLacksTheLastTensors) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(2, 6, 7);
  c.addOptional();
  c.tensors.size = offsetof(toy_tensors, initial_state);
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  c.tensors.initial_state = nullptr; // what the library took it for
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(Empty, NoBatchOrNoQueriesIsDoneAtOnce) {
  Handle handle = makeHandle(optionsWithThreads(2));
  for (Sizes s : {Sizes{0, 3, 4}, Sizes{2, 0, 4}}) {
    Case c(s.batch, s.queries, s.keys);
    c.q.tensor.data = c.o.tensor.data = nullptr;
    if (s.batch == 0)
      c.k.tensor.data = c.v.tensor.data = c.keyLengths.tensor.data = nullptr;
    EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  }
}

TEST(Empty, NoQueriesStillGiveTheFinalState) {
  Handle handle = makeHandle(optionsWithThreads(2));
  toy_handle *raw = handle.get();
  Case c(1, 0, 5);
  c.tensors.final_state = &c.finalState.tensor;
  c.finalState.data()[0] = 1e30f;
  // L = 0 takes the first plan, which has no final state; what counts here is that a plan runs at all.
  int32_t plan = -1;
  ASSERT_EQ(toy_plan(raw, &c.tensors, &plan), ATTUNE_OK) << message();
  EXPECT_EQ(plan, 0);
  EXPECT_EQ(run(raw, c.tensors), ATTUNE_OK) << message();
}

TEST(Empty, NoKeysGiveZeroAndMinusInfinity) {
  Handle handle = makeHandle(optionsWithThreads(2));
  Case c(2, 3, 0, /*sequenceMajorInputs=*/true);
  c.tensors.lse = &c.lse.tensor;
  c.tensors.final_state = &c.finalState.tensor;
  for (int64_t i = 0; i < c.finalState.elements(); ++i)
    c.finalState.data()[i] = 7.0f;
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  for (int64_t i = 0; i < c.o.elements(); ++i)
    EXPECT_EQ(c.o.data()[i], 0.0f);
  for (int64_t i = 0; i < c.lse.elements(); ++i)
    EXPECT_EQ(c.lse.data()[i], -INFINITY);
  for (int64_t i = 0; i < c.finalState.elements(); ++i)
    EXPECT_EQ(c.finalState.data()[i], 0.0f);
}

TEST(Empty, NoKeysAfterAnInitialStateAreLeftToThePlan) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(2, 3, 0);
  c.tensors.initial_state = &c.initialState.tensor;
  ASSERT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

} // namespace
