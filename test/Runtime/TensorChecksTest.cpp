//===- TensorChecksTest.cpp - Each check of a tensor, and its message -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

#include <functional>
#include <gtest/gtest.h>

using namespace toy;

namespace {

/// A mistake in the tensors of a run, and the whole message that it must give.
struct Mistake {
  const char *name;
  std::function<void(Case &)> make;
  const char *message;
};

void PrintTo(const Mistake &mistake, std::ostream *out) { *out << mistake.name; }

class TensorMistake : public testing::TestWithParam<Mistake> {};

TEST_P(TensorMistake, IsRefusedBeforeAnythingIsWritten) {
  Handle handle = makeHandle(optionsWithThreads(1));
  ASSERT_TRUE(handle) << message();
  Case c(2, 6, 9);
  GetParam().make(c);
  char workspace[64];
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, workspace, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), GetParam().message);
  EXPECT_EQ(c.o.data()[0], 1e30f);
}

const Mistake mistakes[] = {
    {"absent", [](Case &c) { c.tensors.v = nullptr; }, "toy_run: argument 'v': expected a tensor, but got null"},
    {"rank", [](Case &c) { c.k.tensor.ndim = 3; },
     "toy_run: argument 'k': expected rank 4, but got rank 3; pass every dimension, sizes of 1 included"},
    {"nullShape", [](Case &c) { c.k.tensor.shape = nullptr; },
     "toy_run: argument 'k': expected a shape of 4 sizes, but got a null shape"},
    {"dtype",
     [](Case &c) {
       c.k.tensor.dtype = {kDLFloat, 16, 1};
     },
     "toy_run: argument 'k': expected dtype f32, but got f16; convert the tensor or compile the library for that "
     "dtype"},
    {"unknownDtype",
     [](Case &c) {
       c.keyLengths.tensor.dtype = {kDLInt, 64, 1};
     },
     "toy_run: argument 'key_lengths': expected dtype i32, but got i64; convert the tensor or compile the "
     "library "
     "for that dtype"},
    {"lanes", [](Case &c) { c.q.tensor.dtype.lanes = 2; },
     "toy_run: argument 'q': expected dtype f32, but got {2, 32, 2}; convert the tensor or compile the library for "
     "that "
     "dtype"},
    {"complexDtype",
     [](Case &c) {
       c.q.tensor.dtype = {5, 64, 1};
     },
     "toy_run: argument 'q': expected dtype f32, but got complex numbers; convert the tensor or compile the library for "
     "that dtype"},
    {"opaqueDtype",
     [](Case &c) {
       c.q.tensor.dtype = {3, 32, 1};
     },
     "toy_run: argument 'q': expected dtype f32, but got another 32-bit type; convert the tensor or compile the library "
     "for that dtype"},
    {"device",
     [](Case &c) {
       c.o.tensor.device.device_type = kDLCUDA;
       c.o.tensor.device.device_id = 1;
     },
     "toy_run: argument 'o': expected a tensor on the CPU 0, but got one on CUDA device 1; copy it there or create the "
     "handle for that device"},
    {"staticSize", [](Case &c) { c.v.shape[3] = 4; },
     "toy_run: argument 'v': expected size 5 in dimension 3, but got 4; this size was fixed when the library was "
     "compiled"},
    {"negativeSize", [](Case &c) { c.q.shape[2] = -1; },
     "toy_run: argument 'q': expected a size of at least 0 in dimension 2, but got -1"},
    {"batch", [](Case &c) { c.keyLengths.shape[0] = 1; },
     "toy_run: argument 'key_lengths': expected size 2 (batch of argument 'q') in dimension 0, but got 1"},
    {"queries", [](Case &c) { c.o.shape[2] = 5; },
     "toy_run: argument 'o': expected size 6 (queries of argument 'q') in dimension 2, but got 5"},
    {"keys", [](Case &c) { c.v.shape[2] = 8; },
     "toy_run: argument 'v': expected size 9 (keys of argument 'k') in dimension 2, but got 8"},
    {"innerStride", [](Case &c) { c.v.strides[3] = 2; },
     "toy_run: argument 'v': expected stride 1 in the innermost dimension 3, but got 2; copy the tensor into rows of "
     "adjacent elements"},
    {"repeatedOutput", [](Case &c) { c.o.strides[1] = 0; },
     "toy_run: argument 'o': expected a stride other than 0 in dimension 1 of an output, but got 0; only inputs may "
     "repeat "
     "rows"},
    {"extent", [](Case &c) { c.q.strides[0] = INT64_MAX / 2; },
     "toy_run: argument 'q': expected elements within 2^56 bytes, but sizes [2, 4, 6, 3] with strides "
     "[4611686018427387903, 18, 3, 1] reach past them"},
    {"leastStride", [](Case &c) { c.q.strides[0] = INT64_MIN; },
     "toy_run: argument 'q': expected elements within 2^56 bytes, but sizes [2, 4, 6, 3] with strides "
     "[-9223372036854775808, 18, 3, 1] reach past them"},
    {"nullData", [](Case &c) { c.q.tensor.data = nullptr; },
     "toy_run: argument 'q': expected data, but got a null data pointer"},
    {"keyLength", [](Case &c) { c.keyLengths.data<int32_t>()[1] = 10; },
     "toy_run: argument 'key_lengths': expected lengths in 0 ... 9 (the number of keys), but got 10 at entry 1"},
    {"negativeKeyLength", [](Case &c) { c.keyLengths.data<int32_t>()[0] = -1; },
     "toy_run: argument 'key_lengths': expected lengths in 0 ... 9 (the number of keys), but got -1 at entry 0"},
    {"optionalDtype",
     [](Case &c) {
       c.addOptional();
       c.lse.tensor.dtype = {kDLBfloat, 16, 1};
     },
     "toy_run: argument 'lse': expected dtype f32, but got bf16; convert the tensor or compile the library for that "
     "dtype"},
};

INSTANTIATE_TEST_SUITE_P(All, TensorMistake, testing::ValuesIn(mistakes),
                         [](const auto &info) { return info.param.name; });

TEST(TensorStruct, SizeIsChecked) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 2, 3);
  c.tensors.size = sizeof(toy_tensors) + 8;
  EXPECT_EQ(toy_run(handle.get(), &c.tensors, nullptr, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_run: argument 'tensors': expected its field size to be 72, but got 80; set it to "
                       "sizeof(toy_tensors)");
  EXPECT_EQ(toy_run(handle.get(), nullptr, nullptr, 0, nullptr), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_run: argument 'tensors': expected a struct of tensors, but got null");
}

TEST(Alignment, OfTheElementIsNeededAndNoMore) {
  Handle handle = makeHandle(optionsWithThreads(1));
  Case c(1, 2, 3);
  c.q.tensor.byte_offset = 2;
  EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "toy_run: argument 'q': expected data aligned to its elements of 4 bytes, but got an address 2 "
                       "bytes past that; check byte_offset");
  c.q.tensor.byte_offset = 4;
  EXPECT_EQ(run(handle.get(), c.tensors), ATTUNE_OK) << message();
}

TEST(Causal, NeedsAsManyKeysAsQueries) {
  attune_rt_descriptor causal = toy_descriptor;
  causal.flags = ATTUNE_RT_QUERIES_EQUAL_KEYS;
  attune_options options = optionsWithThreads(1);
  attune_rt_handle *raw = nullptr;
  ASSERT_EQ(attune_rt_create(&causal, &options, &raw), ATTUNE_OK) << message();
  Handle handle(reinterpret_cast<toy_handle *>(raw));
  ASSERT_EQ(toy_prepare(handle.get(), nullptr), ATTUNE_OK);
  Case different(1, 6, 9);
  EXPECT_EQ(run(handle.get(), different.tensors), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(),
            "toy_workspace: argument 'k': expected as many keys as queries (6, argument 'q'), but got 9; this "
            "mechanism works over one sequence");
  Case equal(1, 6, 6);
  EXPECT_EQ(run(handle.get(), equal.tensors), ATTUNE_OK) << message();
}

/// What a run of n queries and N keys is told under a rule; empty if it runs.
std::string underRule(attune_rt_size_rule rule, int64_t queries, int64_t keys) {
  attune_rt_descriptor ruled = toy_descriptor;
  ruled.size_rules = &rule;
  ruled.size_rule_count = 1;
  attune_options options = optionsWithThreads(1);
  attune_rt_handle *raw = nullptr;
  if (attune_rt_create(&ruled, &options, &raw) != ATTUNE_OK)
    return message();
  Handle handle(reinterpret_cast<toy_handle *>(raw));
  EXPECT_EQ(toy_prepare(handle.get(), nullptr), ATTUNE_OK);
  Case c(1, queries, keys);
  return run(handle.get(), c.tensors) == ATTUNE_OK ? "" : message();
}

TEST(SizeRules, AreCheckedAtWorkspaceAndRun) {
  attune_rt_size_rule multiple = {ATTUNE_RT_MULTIPLE, ATTUNE_RT_QUERIES, 4};
  EXPECT_EQ(underRule(multiple, 8, 9), "");
  EXPECT_EQ(underRule(multiple, 0, 9), "");
  EXPECT_EQ(underRule(multiple, 6, 9), "toy_workspace: argument 'q': expected a multiple of 4 queries, but got 6; this "
                                       "mechanism was compiled for that");
  attune_rt_size_rule exactly = {ATTUNE_RT_EXACTLY, ATTUNE_RT_QUERIES, 6};
  EXPECT_EQ(underRule(exactly, 6, 9), "");
  EXPECT_EQ(underRule(exactly, 5, 9), "toy_workspace: argument 'q': expected exactly 6 queries, but got 5; this "
                                      "mechanism was compiled for that");
  attune_rt_size_rule most = {ATTUNE_RT_AT_MOST, ATTUNE_RT_KEYS, 9};
  EXPECT_EQ(underRule(most, 6, 9), "");
  EXPECT_EQ(underRule(most, 6, 10), "toy_workspace: argument 'k': expected at most 9 keys, but got 10; this mechanism "
                                    "was compiled for that");
  // 9 keys are 3 blocks of 3.
  attune_rt_size_rule blocks = {ATTUNE_RT_BLOCKS, ATTUNE_RT_KEYS, 3};
  EXPECT_EQ(underRule(blocks, 6, 9), "");
  EXPECT_EQ(underRule(blocks, 6, 0), "");
  EXPECT_EQ(
      underRule(blocks, 7, 9),
      "toy_workspace: argument 'k': expected a number of blocks of 3 keys that divides the queries (7), but got 3 "
      "blocks; block i of the queries goes with block i of the keys");
}

TEST(SizeRules, OfADamagedDescriptionAreRefused) {
  EXPECT_NE(underRule({ATTUNE_RT_MULTIPLE, ATTUNE_RT_QUERIES, 0}, 1, 1), "");
  EXPECT_NE(underRule({ATTUNE_RT_BLOCKS + 1, ATTUNE_RT_QUERIES, 1}, 1, 1), "");
  EXPECT_NE(underRule({ATTUNE_RT_MULTIPLE, ATTUNE_RT_SYMBOL_COUNT, 1}, 1, 1), "");
}

} // namespace
