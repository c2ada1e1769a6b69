//===- PrepareTest.cpp - Parameters, prepared tensors, the prepare plan ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedToy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using namespace prepared;
using toy::message;
using toy::optionsWithThreads;

namespace {

class PrepareToy : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    handle = create(optionsWithThreads(GetParam()));
    ASSERT_TRUE(handle) << message();
  }
  Handle handle;
};

INSTANTIATE_TEST_SUITE_P(Threads, PrepareToy, testing::Values(1, 3));

TEST_P(PrepareToy, FillsWhatRunReads) {
  Case c(3, 17);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
  EXPECT_FALSE(misaligned);
}

TEST_P(PrepareToy, TakesAnyStridesAndKeepsItsOwnCopy) {
  Case c(2, 9);
  // e as a transposed view, sign with one row for both slots, index backwards.
  std::vector<float> transposed(18);
  for (int64_t s = 0; s < 2; ++s)
    for (int64_t j = 0; j < 9; ++j)
      transposed[j * 2 + s] = c.e.at({s, j});
  memcpy(c.e.data(), transposed.data(), sizeof(float) * 18);
  c.e.strides = {1, 2};
  c.sign.strides[0] = 0;
  c.index.tensor.byte_offset = 4;
  c.index.strides[0] = -1;
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  c.index.tensor.data = c.index.bytes.data() + 4; // the element 0 for `expected`
  std::vector<char> kept = c.e.bytes;
  memset(c.e.data(), 0xff, 40);
  ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
  memcpy(c.e.data(), kept.data(), 40);
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST_P(PrepareToy, MayBeCalledAgain) {
  Case first(2, 9, 1), second(2, 12, 7);
  ASSERT_EQ(prepare(handle, first), ATTUNE_OK) << message();
  ASSERT_EQ(prepare(handle, second), ATTUNE_OK) << message();
  ASSERT_EQ(run(handle, second), ATTUNE_OK) << message();
  EXPECT_EQ(second.wrongOutputs(), 0);
  EXPECT_EQ(run(handle, first), ATTUNE_ERROR_ARGUMENT);
  // One that fails leaves what was there.
  first.sign.data()[5] = 0.5f;
  EXPECT_EQ(prepare(handle, first), ATTUNE_ERROR_ARGUMENT);
  second.o.data()[0] = 1e30f;
  ASSERT_EQ(run(handle, second), ATTUNE_OK) << message();
  EXPECT_EQ(second.wrongOutputs(), 0);
}

TEST_P(PrepareToy, IsNeededEvenIfOneFailed) {
  Case c(1, 4);
  EXPECT_EQ(run(handle, c), ATTUNE_ERROR_STATE);
  c.index.data<int32_t>()[1] = 4;
  EXPECT_EQ(prepare(handle, c), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(run(handle, c), ATTUNE_ERROR_STATE);
  EXPECT_EQ(message(),
            "kit_run: argument 'handle': expected a prepared handle, but got one that is not; call kit_prepare first");
}

/// A mistake in the parameters, and the whole message that it must give.
struct Mistake {
  const char *name;
  std::function<void(Case &)> make;
  const char *message;
};
void PrintTo(const Mistake &mistake, std::ostream *out) { *out << mistake.name; }

class ParameterMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ParameterMistake, IsRefused) {
  Handle handle = create(optionsWithThreads(1));
  Case c(2, 6);
  GetParam().make(c);
  attune_status status = prepare(handle, c);
  EXPECT_NE(status, ATTUNE_OK);
  EXPECT_EQ(message(), GetParam().message);
}

const Mistake mistakes[] = {
    {"structSize", [](Case &c) { c.parameters.size = 12; },
     "kit_prepare: argument 'parameters': expected its field size to be 32, but got 12; set it to "
     "sizeof(kit_parameters)"},
    {"absent", [](Case &c) { c.parameters.index = nullptr; },
     "kit_prepare: argument 'index': expected a tensor, but got null"},
    {"pastTheStruct", [](Case &c) { c.parameters.size = 16; },
     "kit_prepare: argument 'sign': expected a tensor, but got null"},
    {"shape", [](Case &c) { c.sign.shape[1] = 3; },
     "kit_prepare: argument 'sign': expected size 4 in dimension 1, but got 3; this size was fixed when the library was "
     "compiled"},
    {"rank", [](Case &c) { c.e.tensor.ndim = 1; },
     "kit_prepare: argument 'e': expected rank 2, but got rank 1; pass every dimension, sizes of 1 included"},
    {"dtype", [](Case &c) { c.index.tensor.dtype = {kDLInt, 64, 1}; },
     "kit_prepare: argument 'index': expected dtype i32, but got i64; convert the tensor or compile the library "
     "for that dtype"},
    {"device", [](Case &c) { c.e.tensor.device.device_type = kDLCUDA; },
     "kit_prepare: argument 'e': expected a tensor on the CPU 0, but got one on CUDA device 0; copy it there or create "
     "the handle for that device"},
    {"nullData", [](Case &c) { c.sign.tensor.data = nullptr; },
     "kit_prepare: argument 'sign': expected data, but got a null data pointer"},
    {"sign", [](Case &c) { c.sign.data()[6] = 0.5f; },
     "kit_prepare: argument 'sign': expected -1 or 1 in every element, but got 0.5 at [1, 2]"},
    {"indexTooLarge", [](Case &c) { c.index.data<int32_t>()[1] = 4; },
     "kit_prepare: argument 'index': expected indices in 0 ... 3, but got 4 at [1]"},
    {"indexNegative", [](Case &c) { c.index.data<int32_t>()[0] = -1; },
     "kit_prepare: argument 'index': expected indices in 0 ... 3, but got -1 at [0]"},
    {"pastMemory",
     [](Case &c) {
       c.e.shape[1] = INT64_C(1) << 61;
       c.e.strides = {0, 0};
     },
     "kit_prepare: argument 'e': expected at most 2^56 bytes of elements, but got sizes [2, 2305843009213693952]; split "
     "the batch or the sequence"},
};

INSTANTIATE_TEST_SUITE_P(All, ParameterMistake, testing::ValuesIn(mistakes),
                         [](const testing::TestParamInfo<Mistake> &info) { return std::string(info.param.name); });

/// The toy with a table of its own, to change.
struct Changed {
  std::vector<attune_rt_tensor> tensors{descriptor.tensors, descriptor.tensors + TensorCount};
  attune_rt_descriptor changed = descriptor;
  Handle create() {
    changed.tensors = tensors.data();
    changed.tensor_count = static_cast<uint32_t>(tensors.size());
    return prepared::create(optionsWithThreads(1), changed);
  }
};

TEST(ParameterValues, SignsOfHalfPrecisionAreRead) {
  struct {
    attune_rt_dtype dtype;
    DLDataType given;
    uint16_t one, wrong;
    const char *shown;
  } cases[] = {{ATTUNE_RT_F16, {kDLFloat, 16, 1}, 0x3c00, 0x3e00, "1.5"},
               {ATTUNE_RT_F16, {kDLFloat, 16, 1}, 0x3c00, 0x8001, "-5.96046e-08"},
               {ATTUNE_RT_F16, {kDLFloat, 16, 1}, 0x3c00, 0xfc00, "-inf"},
               {ATTUNE_RT_BF16, {kDLBfloat, 16, 1}, 0x3f80, 0x4040, "3"}};
  for (const auto &each : cases) {
    Changed library;
    library.tensors[Sign].dtype = each.dtype;
    Handle handle = library.create();
    Case c(1, 3);
    c.sign.tensor.dtype = each.given;
    for (int i = 0; i < 8; ++i)
      c.sign.data<uint16_t>()[i] = i % 2 ? each.one : each.one | 0x8000;
    EXPECT_EQ(prepare(handle, c), ATTUNE_OK) << message();
    c.sign.data<uint16_t>()[3] = each.wrong;
    EXPECT_EQ(prepare(handle, c), ATTUNE_ERROR_ARGUMENT);
    EXPECT_EQ(message(), std::string("kit_prepare: argument 'sign': expected -1 or 1 in every element, but got ") +
                             each.shown + " at [0, 3]");
  }
}

TEST(ParameterSizes, HoldForEveryRun) {
  Handle handle = create(optionsWithThreads(1));
  Case c(1, 5), other(1, 6);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(run(handle, other), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "kit_run: argument 'k': expected size 5 (keys of parameter 'e') in dimension 1, but got 6; "
                       "prepare again with parameters of that size");
  EXPECT_EQ(run(handle, c), ATTUNE_OK) << message();
}

TEST(ParameterSizes, OfOneSequenceAreItsQueries) {
  // k shows the queries: one sequence, so that e's keys must be as many.
  Changed library;
  library.tensors[K].dims[1] = -1 - ATTUNE_RT_QUERIES;
  library.changed.sizes[ATTUNE_RT_QUERIES] = -1;
  library.changed.flags = ATTUNE_RT_QUERIES_EQUAL_KEYS;
  Handle handle = library.create();
  Case c(1, 5), other(1, 6);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(run(handle, other), ATTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(message(), "kit_run: argument 'k': expected as many queries as keys (5, parameter 'e'), but got 6; prepare "
                       "again with parameters of that size");
  ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(c.wrongOutputs(), 0);
}

TEST(NoKeys, OutputsAreZeroOrWhatThePlanComputes) {
  for (auto [empty, value] : {std::pair(ATTUNE_RT_EMPTY_ZERO, 0.0f), std::pair(ATTUNE_RT_EMPTY_COMPUTED, 1.0f)}) {
    Changed library;
    library.tensors[O].empty = empty;
    Handle handle = library.create();
    Case c(2, 0);
    ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
    ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
    for (int64_t i = 0; i < c.o.elements(); ++i)
      EXPECT_EQ(c.o.data()[i], value);
  }
}

TEST(Table, HidesPreparedTensors) {
  Handle handle = create(optionsWithThreads(1));
  attune_info info = {};
  info.size = sizeof(info);
  ASSERT_EQ(attune_rt_info(handle.get(), &info), ATTUNE_OK);
  EXPECT_EQ(info.tensor_count, 5u);
  attune_tensor_info tensor = {};
  tensor.size = sizeof(tensor);
  ASSERT_EQ(attune_rt_tensor_info(handle.get(), 4, &tensor), ATTUNE_OK) << message();
  EXPECT_STREQ(tensor.name, "index");
  EXPECT_EQ(tensor.role, ATTUNE_PARAMETER);
  EXPECT_EQ(attune_rt_tensor_info(handle.get(), 5, &tensor), ATTUNE_ERROR_ARGUMENT);
}

TEST(Table, PreparedTensorsAreStaticAndComeLast) {
  Changed dynamic, early;
  dynamic.tensors[Factor].dims[0] = -1 - ATTUNE_RT_KEYS;
  EXPECT_FALSE(dynamic.create());
  std::swap(early.tensors[Index], early.tensors[Factor]);
  EXPECT_FALSE(early.create());
  EXPECT_EQ(message(), "kit_create: expected a sound library description, but got one past its limits; compile the "
                       "library again");
}

TEST(Table, OfAVariantHasPreparedTensorsOfItsOwn) {
  attune_rt_tensor shown[TensorCount];
  std::copy_n(descriptor.tensors, TensorCount, shown);
  std::swap(shown[Factor], shown[Count]); // those of another device
  attune_rt_variant own = descriptor.variants[0];
  own.tensors = descriptor.tensors, own.tensor_count = TensorCount;
  attune_rt_descriptor other = descriptor;
  other.tensors = shown, other.variants = &own;
  for (uint32_t count : {static_cast<uint32_t>(TensorCount), static_cast<uint32_t>(Factor)}) { // or none
    other.tensor_count = count;
    Handle handle = create(optionsWithThreads(1), other);
    ASSERT_TRUE(handle) << message();
    Case c(3, 17);
    ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
    ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
    EXPECT_EQ(c.wrongOutputs(), 0);
  }
  attune_rt_tensor late[] = {shown[Factor], shown[K]};
  own.tensors = late, own.tensor_count = 2;
  EXPECT_FALSE(create(optionsWithThreads(1), other));
  EXPECT_EQ(message(), "kit_create: expected a sound library description, but got one past its limits; compile the library again");
}

TEST(Table, MayBeLong) {
  // 6000 parameters more between e, sign, index and the prepared tensors.
  constexpr int64_t more = 6000;
  Changed library;
  attune_rt_tensor extra = {"extra", ATTUNE_RT_PARAMETER, ATTUNE_RT_F32, 1, 0, 0, 0, {1}, 0};
  library.tensors.insert(library.tensors.begin() + Factor, more, extra);
  attune_rt_variant variant = descriptor.variants[0];
  attune_rt_plan plan = variant.plans[0];
  plan.run = [](void *, const void *args) {
    auto *slots = static_cast<const int64_t *>(args);
    float sum = 0;
    for (int64_t i = 0; i < more; ++i)
      sum += *reinterpret_cast<const float *>(slots[27 + 3 * i]);
    *reinterpret_cast<float *>(slots[7]) = sum;
  };
  variant.plans = &plan;
  variant.prepare = nullptr;
  library.changed.variants = &variant;
  Handle handle = library.create();
  ASSERT_TRUE(handle) << message();
  Case c(1, 2);
  std::vector<toy::Tensor> values;
  std::vector<const void *> given{nullptr, &c.e.tensor, &c.sign.tensor, &c.index.tensor};
  for (int64_t i = 0; i < more; ++i) {
    values.emplace_back(std::vector<int64_t>{1});
    *values.back().data() = static_cast<float>(i % 7);
  }
  for (toy::Tensor &value : values)
    given.push_back(&value.tensor);
  given[0] = reinterpret_cast<const void *>(given.size() * sizeof(void *));
  ASSERT_EQ(attune_rt_prepare(handle.get(), reinterpret_cast<const attune_rt_tensors *>(given.data())), ATTUNE_OK)
      << message();
  ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(c.o.data()[0], 857 * 21.0f); // 6000 = 857 * 7 + 1, and the last is 0
}

TEST(Threads, PrepareWhileOthersRunAndAsk) {
  Handle handle = create(optionsWithThreads(2));
  Case cases[] = {Case(2, 8, 1), Case(2, 8, 5)}, reader(2, 8, 9);
  ASSERT_EQ(prepare(handle, cases[0]), ATTUNE_OK) << message();
  std::atomic<bool> done = false;
  std::atomic<int> faults = 0;
  std::thread asking([&] {
    size_t bytes = 0;
    attune_info info = {};
    info.size = sizeof(info);
    while (!done)
      faults += attune_rt_workspace(handle.get(), reinterpret_cast<const attune_rt_tensors *>(&reader.tensors),
                                    &bytes) != ATTUNE_OK ||
                attune_rt_info(handle.get(), &info) != ATTUNE_OK;
  });
  std::thread running([&] {
    // Every run uses one set of parameters or the other, never a mixture.
    while (!done) {
      faults += run(handle, reader) != ATTUNE_OK;
      int64_t wrong[2];
      for (int i = 0; i < 2; ++i) {
        Case &with = cases[i];
        memcpy(with.k.data(), reader.k.data(), sizeof(float) * static_cast<size_t>(reader.k.elements()));
        memcpy(with.o.data(), reader.o.data(), sizeof(float) * static_cast<size_t>(reader.o.elements()));
        wrong[i] = with.wrongOutputs();
      }
      faults += wrong[0] != 0 && wrong[1] != 0;
    }
  });
  for (int round = 0; round < 300; ++round)
    faults += prepare(handle, cases[round % 2]) != ATTUNE_OK;
  done = true;
  asking.join();
  running.join();
  EXPECT_EQ(faults, 0);
}

/// A host whose threads ask about sizes on the way: with a run under way, the answer must not wait for its end.
void askingParallelFor(void *context, int32_t count, attune_body body, void *bodyContext) {
  auto &ask = *static_cast<std::function<void()> *>(context);
  std::thread(ask).join();
  for (int32_t i = 0; i < count; ++i)
    body(bodyContext, i);
}

TEST(Threads, QuestionsDoNotWaitForARun) {
  attune_options options = optionsWithThreads(2);
  std::function<void()> ask = [] {};
  options.parallel_for = askingParallelFor;
  options.parallel_for_context = &ask;
  Handle handle = create(options);
  Case c(2, 8);
  ASSERT_EQ(prepare(handle, c), ATTUNE_OK) << message();
  int32_t index = -1;
  ask = [&] {
    attune_rt_plan_index(handle.get(), reinterpret_cast<const attune_rt_tensors *>(&c.tensors), &index);
  };
  ASSERT_EQ(run(handle, c), ATTUNE_OK) << message();
  EXPECT_EQ(index, 0);
  EXPECT_EQ(c.wrongOutputs(), 0);
}

} // namespace
