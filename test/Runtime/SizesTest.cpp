//===- SizesTest.cpp - Sizes, strides and addresses at and past the limits ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <gtest/gtest.h>
#include <limits>

using namespace toy;

namespace {

/// Tensors of a question, which has no data and whose sizes may be anything.
struct Question {
  Case c{1, 2, 3};
  Handle handle = makeHandle(optionsWithThreads(1));
  size_t bytes = 7;

  Question(int64_t batch, int64_t queries, int64_t keys) {
    for (Tensor *tensor : {&c.q, &c.k, &c.v, &c.o}) {
      tensor->shape[0] = batch;
      tensor->shape[2] = tensor == &c.q || tensor == &c.o ? queries : keys;
      tensor->tensor.strides = nullptr;
    }
    c.keyLengths.shape[0] = batch;
  }
  attune_status ask() { return toy_workspace(handle.get(), &c.tensors, &bytes); }
};

TEST(Sizes, UpToTheLimitAreAnswered) {
  // The largest is v or o, of 2^56 − 2^16 bytes: [2^10, 4, …, 5] f32.
  int64_t rows = ((int64_t(1) << 56) - (1 << 16)) / (1024 * 4 * 5 * 4);
  Question limit(1024, rows, rows);
  ASSERT_EQ(limit.ask(), ATTUNE_OK) << message();
  EXPECT_EQ(limit.bytes, 1024u * 2 * 3 * 5 * 4);
  Question past(1024, rows + 4, rows);
  EXPECT_EQ(past.ask(), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_workspace: argument 'o': expected at most 2^56 bytes of elements, but got sizes [1024, 4, " +
                           std::to_string(rows + 4) + ", 5]; split the batch or the sequence");
  EXPECT_EQ(past.bytes, 7u);
}

/// Numbers of elements whose bytes wrap around to something small, or past the sign.
TEST(Sizes, ThatWrapAroundAreRefused) {
  for (auto [batch, queries, keys] : {std::tuple{int64_t(1) << 25, int64_t(1) << 30, int64_t(1) << 30},
                                      {int64_t(1) << 62, int64_t(4), int64_t(4)},
                                      {int64_t(1) << 32, int64_t(1) << 32, int64_t(1)},
                                      {INT64_MAX, INT64_MAX, INT64_MAX},
                                      {int64_t(1), int64_t(50), INT64_MAX}}) {
    Question question(batch, queries, keys);
    int32_t index;
    EXPECT_EQ(question.ask(), ATTUNE_ERROR_ARGUMENT) << batch << " " << queries << " " << keys;
    EXPECT_NE(message().find("expected at most 2^56 bytes of elements, but got sizes ["), std::string::npos) << message();
    EXPECT_EQ(toy_plan(question.handle.get(), &question.c.tensors, &index), ATTUNE_ERROR_ARGUMENT);
  }
}

/// Rows that are repeated take no memory, but the sizes are those of outputs and workspaces all the same.
TEST(Sizes, OfRepeatedRowsCountToo) {
  Question question(1, 50, int64_t(1) << 60);
  int64_t repeated[] = {0, 0, 0, 1};
  question.c.k.tensor.strides = question.c.v.tensor.strides = repeated;
  EXPECT_EQ(question.ask(), ATTUNE_ERROR_ARGUMENT);
  EXPECT_NE(message().find("argument 'k': expected at most 2^56 bytes of elements"), std::string::npos) << message();
}

TEST(Sizes, BesideAnEmptyDimensionMayBeAnything) {
  Question question(0, INT64_MAX, INT64_MAX);
  EXPECT_EQ(question.ask(), ATTUNE_OK) << message();
  EXPECT_EQ(question.bytes, 0u);
}

/// The largest workspace that a plan can state, and one byte more; also what saturated sums give.
int64_t stated;
TEST(Sizes, OfAWorkspacePastTheLimitAreRefused) {
  attune_rt_plan plan = toy_descriptor.variants[0].plans[0];
  plan.workspace = [](const void *) { return stated; };
  std::vector<attune_rt_variant> variants(toy_descriptor.variants, toy_descriptor.variants + 2);
  for (attune_rt_variant &variant : variants)
    variant.plans = &plan, variant.plan_count = 1;
  attune_rt_descriptor descriptor = toy_descriptor;
  descriptor.variants = variants.data();
  attune_options options = optionsWithThreads(1);
  attune_rt_handle *raw = nullptr;
  ASSERT_EQ(attune_rt_create(&descriptor, &options, &raw), ATTUNE_OK) << message();
  Handle handle(reinterpret_cast<toy_handle *>(raw));
  ASSERT_EQ(toy_prepare(handle.get(), nullptr), ATTUNE_OK);
  Case c(2, 6, 9);
  size_t bytes = 0;
  stated = int64_t(1) << 56;
  EXPECT_EQ(toy_workspace(handle.get(), &c.tensors, &bytes), ATTUNE_OK) << message();
  EXPECT_EQ(bytes, size_t(1) << 56);
  for (int64_t more : {stated + 1, std::numeric_limits<int64_t>::max()}) {
    stated = more;
    EXPECT_EQ(toy_workspace(handle.get(), &c.tensors, &bytes), ATTUNE_ERROR_ARGUMENT);
    EXPECT_EQ(message(), "toy_workspace: argument 'q': expected sizes that need at most 2^56 bytes of workspace, but "
                         "batch 2 with 6 queries and 9 keys needs more; split the batch or the sequence");
    EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, SIZE_MAX, nullptr), ATTUNE_ERROR_ARGUMENT);
  }
}

TEST(Addresses, ThatWrapAroundAreRefused) {
  Handle handle = makeHandle(optionsWithThreads(1));
  for (uint64_t offset : {~uint64_t(0) - 3, ~uint64_t(0) - (uint64_t(1) << 40) + 1}) {
    Case c(2, 6, 9);
    c.v.tensor.byte_offset = offset; // data + byte_offset wraps to an address below data
    EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_ERROR_ARGUMENT);
    EXPECT_NE(message().find("toy_run: argument 'v': expected elements within the address space, but data 0x"),
              std::string::npos)
        << message();
  }
  for (auto [address, stride] : {std::pair{~uint64_t(0) - 63, int64_t(3)}, {uint64_t(64), int64_t(-300)}}) {
    Case c(2, 6, 9);
    c.q.tensor.data = reinterpret_cast<void *>(address); // the last rows lie past the end, or before the beginning
    c.q.strides[2] = stride;
    EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_ERROR_ARGUMENT);
    EXPECT_NE(message().find("lead past its end"), std::string::npos) << message();
  }
}

/// Nothing is read of a tensor without elements, wherever it says that they are.
TEST(Addresses, OfTensorsWithoutElementsMayBeAnything) {
  Handle handle = makeHandle(optionsWithThreads(2));
  for (uint64_t address : {uint64_t(0), uint64_t(1), uint64_t(3), ~uint64_t(0)})
    for (uint64_t offset : {uint64_t(0), uint64_t(7), ~uint64_t(0)}) {
      Case c(2, 0, 5);
      c.addOptional();
      for (Tensor *tensor : {&c.q, &c.o, &c.lse}) {
        tensor->tensor.data = reinterpret_cast<void *>(address);
        tensor->tensor.byte_offset = offset;
      }
      EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
    }
}

} // namespace
