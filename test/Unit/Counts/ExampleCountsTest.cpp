//===- ExampleCountsTest.cpp - Counts of the plans of the examples --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExamplePlans.h"
#include "ExecutedCounts.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

/// Up to eight plans of each, run at small sizes.
TEST(ExampleCounts, AreThoseOfTheRun) {
  std::unique_ptr<MLIRContext> context = countsContext();
  auto device = llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"));
  const RunSizes sizes[] = {{1, 70, 131}, {2, 1, 1}, {1, 131, 131}, {1, 128, 128},
                            {1, 240, 240}, {1, 480, 480}, {1, 0, 0}};
  for (const std::string &example : exampleNames()) {
    SCOPED_TRACE(example);
    int compared = 0;
    forEachPlan(*context, example, device, 8, [&](LoweredPlan &plan) { compared += checkCounts(*plan.module, sizes); });
    EXPECT_GT(compared, 0);
  }
}
