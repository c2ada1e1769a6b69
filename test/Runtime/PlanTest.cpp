//===- PlanTest.cpp - Which plan a run takes, and its workspace -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Arguments.h"
#include "ToyData.h"

#include <gtest/gtest.h>

using namespace toy;
using attune::rt::pickPlan;

namespace {

attune_rt_variant thresholds(attune_rt_plan *plans, int64_t second, int64_t third) {
  plans[0].from_length = 0;
  plans[1].from_length = second;
  plans[2].from_length = third;
  attune_rt_variant variant = {};
  variant.plan_count = 3;
  variant.plans = plans;
  return variant;
}

TEST(PickPlan, ComparesTheHarmonicMeanExactly) {
  attune_rt_plan plans[3] = {};
  attune_rt_variant variant = thresholds(plans, 100, 1000);
  EXPECT_EQ(pickPlan(variant, 99, 99), 0u);
  EXPECT_EQ(pickPlan(variant, 100, 100), 1u);
  EXPECT_EQ(pickPlan(variant, 75, 150), 1u);     // L = 100 exactly
  EXPECT_EQ(pickPlan(variant, 75, 149), 0u);     // L = 99.78
  EXPECT_EQ(pickPlan(variant, 51, 2550), 1u);    // L = 100 exactly
  EXPECT_EQ(pickPlan(variant, 50, 1000000), 0u); // L stays below 2n
  EXPECT_EQ(pickPlan(variant, 1000, 1000), 2u);
  EXPECT_EQ(pickPlan(variant, 999, 1000), 1u);
}

TEST(PickPlan, SurvivesExtremeSizes) {
  attune_rt_plan plans[3] = {};
  constexpr int64_t large = int64_t(1) << 62;
  attune_rt_variant variant = thresholds(plans, 1, large);
  EXPECT_EQ(pickPlan(variant, 0, 0), 0u);
  EXPECT_EQ(pickPlan(variant, large, large), 2u);
  EXPECT_EQ(pickPlan(variant, large, large - 1), 1u);
  EXPECT_EQ(pickPlan(variant, 0, large), 0u);
}

TEST(PickPlan, IsReportedForGivenTensors) {
  Handle handle = makeHandle(optionsWithThreads(1));
  int32_t index = -1;
  Case small(1, 39, 40), state(1, 40, 40);
  small.q.tensor.data = small.o.tensor.data = nullptr; // sizes are enough
  ASSERT_EQ(toy_plan(handle.get(), &small.tensors, &index), ATTUNE_OK) << message();
  EXPECT_EQ(index, 0);
  ASSERT_EQ(toy_plan(handle.get(), &state.tensors, &index), ATTUNE_OK) << message();
  EXPECT_EQ(index, 1);
}

TEST(Workspace, IsThePlansOwnNumber) {
  Handle handle = makeHandle(optionsWithThreads(1));
  size_t bytes = 1;
  Case small(3, 10, 10), state(3, 50, 50);
  ASSERT_EQ(toy_workspace(handle.get(), &small.tensors, &bytes), ATTUNE_OK) << message();
  EXPECT_EQ(bytes, 0u);
  ASSERT_EQ(toy_workspace(handle.get(), &state.tensors, &bytes), ATTUNE_OK) << message();
  EXPECT_EQ(bytes, 3u * 2 * 3 * 5 * 4);
}

TEST(Workspace, TooSmallAbsentOrMisplacedIsRefused) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 50, 50);
  alignas(64) char workspace[256];
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, workspace, 119, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_run: argument 'workspace': expected at least 120 bytes, but got 119; ask toy_workspace for the "
            "number");
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 120, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_run: argument 'workspace': expected at least 120 bytes, but got null and 120; ask "
                       "toy_workspace for the number");
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, workspace + 8, 120, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_run: argument 'workspace': expected an address that is a multiple of 64, but got one 8 bytes "
            "past that");
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, workspace, 120, nullptr), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

} // namespace
