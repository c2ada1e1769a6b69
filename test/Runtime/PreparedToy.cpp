//===- PreparedToy.cpp - A library with parameters and a prepare plan -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PreparedToy.h"

#include <cstring>

using namespace prepared;

std::atomic<bool> prepared::misaligned = false;

namespace {

constexpr int64_t slotsOfE = 5, slotsOfSign = 5, slotsOfIndex = 3, slotsOfFactor = 3, slotsOfCount = 3, slotsOfTokens = 7;

/// The kept tensors as they follow each other in the slots of both kinds of plan.
struct Kept {
  const int64_t *e, *sign, *index, *factor, *count, *workspace;
  explicit Kept(const int64_t *slots)
      : e(slots), sign(e + slotsOfE), index(sign + slotsOfSign), factor(index + slotsOfIndex),
        count(factor + slotsOfFactor), workspace(count + slotsOfCount) {
    for (const int64_t *tensor : {e, sign, index, factor, count})
      if (*tensor % 64 != 0)
        misaligned = true;
  }
  template <typename T> static T *data(const int64_t *tensor) { return reinterpret_cast<T *>(*tensor); }
  int64_t keys() const { return e[2]; }
};

void sumKernel(const void *args, int64_t s, int64_t, int64_t, void *scratch) {
  Kept kept(static_cast<const int64_t *>(args));
  auto *sum = static_cast<volatile float *>(scratch);
  *sum = 0;
  for (int64_t j = 0; j < kept.keys(); ++j)
    *sum = *sum + Kept::data<float>(kept.e)[s * kept.keys() + j];
  Kept::data<float>(kept.workspace)[s] = *sum;
}

void factorKernel(const void *args, int64_t s, int64_t, int64_t, void *) {
  Kept kept(static_cast<const int64_t *>(args));
  float sign = Kept::data<float>(kept.sign)[s * 4 + Kept::data<int32_t>(kept.index)[s]];
  Kept::data<float>(kept.factor)[s] = sign * Kept::data<float>(kept.workspace)[s];
  if (s == 0)
    *Kept::data<int32_t>(kept.count) = static_cast<int32_t>(kept.keys());
}

constexpr int64_t prepareSlots = 20, runSlots = 34;

void preparePlan(void *launcher, const void *args) {
  attune_rt_launch(launcher, sumKernel, args, prepareSlots, 2, 1, 1);
  attune_rt_launch(launcher, factorKernel, args, prepareSlots, 2, 1, 1);
}

int64_t prepareWorkspace(const void *) { return 2 * sizeof(float); }

void runKernel(const void *args, int64_t s, int64_t b, int64_t, void *) {
  auto *slots = static_cast<const int64_t *>(args);
  const int64_t *k = slots, *o = k + slotsOfTokens;
  Kept kept(o + slotsOfTokens);
  for (int64_t c = 0; c < 3; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < *Kept::data<int32_t>(kept.count); ++j)
      sum += Kept::data<float>(kept.e)[s * kept.keys() + j] * Kept::data<float>(k)[b * k[4] + j * k[5] + c];
    Kept::data<float>(o)[b * o[4] + s * o[5] + c] = 1 + Kept::data<float>(kept.factor)[s] * sum;
  }
}

void runPlan(void *launcher, const void *args) {
  attune_rt_launch(launcher, runKernel, args, runSlots, 2, static_cast<const int64_t *>(args)[1], 1);
}

void deviceRun(void *launcher, const void *args) {
  attune_rt_launch_device(launcher, RunKernel, args, runSlots, 2, static_cast<const int64_t *>(args)[1], 1);
}

void devicePrepare(void *launcher, const void *args) {
  attune_rt_launch_device(launcher, SumKernel, args, prepareSlots, 2, 1, 1);
  attune_rt_launch_device(launcher, FactorKernel, args, prepareSlots, 2, 1, 1);
}

const attune_rt_device_kernel deviceKernels[] = {{"sum", {32, 1, 1}, 0}, {"factor", {32, 1, 1}, 0}, {"run", {64, 1, 1}, 0}};
constexpr attune_rt_kernel hostKernels[] = {sumKernel, factorKernel, runKernel};
const attune_rt_plan devicePlan = {"only", 0, deviceRun, nullptr, 0};
const attune_rt_plan deviceMakeReady = {"prepare", 0, devicePrepare, prepareWorkspace, 0};

const attune_rt_plan plan = {"only", 0, runPlan, nullptr, 0};
const attune_rt_plan makeReady = {"prepare", 0, preparePlan, prepareWorkspace, 64};
const attune_rt_variant variant = {ATTUNE_RT_AVX2, 0, 0, 1, &plan, nullptr, 0, nullptr, 0, nullptr, 0, &makeReady, 0, 0, nullptr, 0, 0};

constexpr int64_t batchSize = -1 - ATTUNE_RT_BATCH, keysSize = -1 - ATTUNE_RT_KEYS;
const attune_rt_tensor tensors[] = {
    {"k", ATTUNE_RT_INPUT, ATTUNE_RT_F32, 3, 0, 0, 0, {batchSize, keysSize, 3}, 0},
    {"o", ATTUNE_RT_OUTPUT, ATTUNE_RT_F32, 3, 0, ATTUNE_RT_EMPTY_ZERO, 0, {batchSize, 2, 3}, 0},
    {"e", ATTUNE_RT_PARAMETER, ATTUNE_RT_F32, 2, 0, 0, 0, {2, keysSize}, 0},
    {"sign", ATTUNE_RT_PARAMETER, ATTUNE_RT_F32, 2, ATTUNE_RT_SIGNS, 0, 0, {2, 4}, 0},
    {"index", ATTUNE_RT_PARAMETER, ATTUNE_RT_I32, 1, ATTUNE_RT_INDICES, 0, 0, {2}, 4},
    {"factor", ATTUNE_RT_PREPARED, ATTUNE_RT_F32, 1, 0, 0, 0, {2}, 0},
    {"count", ATTUNE_RT_PREPARED, ATTUNE_RT_I32, 1, 0, 0, 0, {1}, 0}};

} // namespace

const attune_rt_variant prepared::deviceVariant = {
    ATTUNE_RT_CUDA, 80, 0, 1, &devicePlan, "cubin", 5, nullptr, 0, deviceKernels, KernelCount, &deviceMakeReady, 0, 0, nullptr, 0, 0};

int prepared::slotsOf(const char *kernel) {
  return static_cast<int>(strcmp(kernel, deviceKernels[RunKernel].name) == 0 ? runSlots : prepareSlots);
}

void prepared::computeOnHost(const char *kernel, const unsigned grid[3], const uint64_t *slots) {
  for (int place = 0; place < KernelCount; ++place)
    for (unsigned y = 0; y < grid[1] && strcmp(deviceKernels[place].name, kernel) == 0; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        alignas(64) float scratch[16];
        hostKernels[place](slots, x, y, 0, scratch);
      }
}

const attune_rt_descriptor prepared::descriptor = {sizeof(attune_rt_descriptor),
                                                   ATTUNE_RT_DESCRIPTOR_VERSION,
                                                   "kit",
                                                   "sums with parameters",
                                                   "by hand",
                                                   0,
                                                   TensorCount,
                                                   tensors,
                                                   {-1, 2, -1},
                                                   1,
                                                   1,
                                                   3,
                                                   3,
                                                   1,
                                                   &variant,
                                                   0,
                                                   nullptr};

Case::Case(int64_t batch, int64_t keys, uint32_t seed)
    : batch(batch), keys(keys), e({2, keys}), sign({2, 4}), index({2}, {kDLInt, 32, 1}), k({batch, keys, 3}),
      o({batch, 2, 3}), parameters{sizeof(parameters), &e.tensor, &sign.tensor, &index.tensor},
      tensors{sizeof(tensors), &k.tensor, &o.tensor} {
  toy::fillWithIntegers(e, seed);
  toy::fillWithIntegers(k, seed + 1);
  toy::fillWithIntegers(sign, seed + 2);
  for (int64_t i = 0; i < 8; ++i)
    sign.data()[i] = sign.data()[i] < 0 ? -1.0f : 1.0f;
  for (int64_t i = 0; i < 2; ++i)
    index.data<int32_t>()[i] = static_cast<int32_t>((seed + 3 * i) % 4);
  for (int64_t i = 0; i < o.elements(); ++i)
    o.data()[i] = 1e30f;
}

float Case::expected(int64_t b, int64_t s, int64_t c) {
  float factor = 0, sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    factor += e.at({s, j});
    sum += e.at({s, j}) * k.at({b, j, c});
  }
  return 1 + sign.at({s, index.data<int32_t>()[s * index.strides[0]]}) * factor * sum;
}

int64_t Case::wrongOutputs() {
  int64_t wrong = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < 2; ++s)
      for (int64_t c = 0; c < 3; ++c)
        wrong += o.at({b, s, c}) != expected(b, s, c);
  return wrong;
}

Handle prepared::create(const attune_options &options, const attune_rt_descriptor &of) {
  attune_rt_handle *handle = nullptr;
  attune_rt_create(&of, &options, &handle);
  return Handle(handle);
}

attune_status prepared::prepare(const Handle &handle, const Case &c) {
  return attune_rt_prepare(handle.get(), reinterpret_cast<const attune_rt_tensors *>(&c.parameters));
}

attune_status prepared::run(const Handle &handle, const Case &c) {
  return attune_rt_run(handle.get(), reinterpret_cast<const attune_rt_tensors *>(&c.tensors), nullptr, 0, nullptr);
}
