//===- ProjectionToy.cpp - A device library that projects tokens ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProjectionToy.h"

#include <cstring>
#include <dlfcn.h>

using namespace projection;

namespace {

constexpr int64_t batchSize = -1 - ATTUNE_RT_BATCH, queriesSize = -1 - ATTUNE_RT_QUERIES;
constexpr int64_t xSlots = 7, ySlots = 9, wSlots = 5;

/// x, w, y is the kernel's order; x, y, w that of the library's tensors.
void plan(void *launcher, const void *args) {
  auto *given = static_cast<const int64_t *>(args);
  int64_t slots[kernelSlots];
  memcpy(slots, given, xSlots * 8);
  memcpy(slots + xSlots, given + xSlots + ySlots, wSlots * 8);
  memcpy(slots + xSlots + wSlots, given + xSlots, ySlots * 8);
  attune_rt_launch_device(launcher, 0, slots, kernelSlots, slots[1], heads, (slots[2] + 63) / 64);
}

int64_t workspace(const void *) { return 4; } // no multiple of 64

const attune_rt_plan plans[] = {{"only", 0, plan, workspace, 0}};
const attune_rt_device_kernel kernels[] = {{"project", {128, 1, 1}, 0}};

int64_t bytesOf(uint32_t dtype) { return dtype == ATTUNE_RT_F32 ? 4 : 2; }

/// A small whole number in the type, and back.
void store(char *to, uint32_t dtype, float value) {
  if (dtype == ATTUNE_RT_F16) {
    auto half = static_cast<_Float16>(value);
    memcpy(to, &half, 2);
    return;
  }
  char bits[4];
  memcpy(bits, &value, 4);
  memcpy(to, bits + (dtype == ATTUNE_RT_BF16 ? 2 : 0), static_cast<size_t>(bytesOf(dtype)));
}
float load(const char *from, uint32_t dtype) {
  if (dtype == ATTUNE_RT_F16) {
    _Float16 half;
    memcpy(&half, from, 2);
    return static_cast<float>(half);
  }
  char bits[4] = {};
  memcpy(bits + (dtype == ATTUNE_RT_BF16 ? 2 : 0), from, static_cast<size_t>(bytesOf(dtype)));
  float value;
  memcpy(&value, bits, 4);
  return value;
}

float weight(int64_t k, int64_t c) { return static_cast<float>((k * 5 + c * 3) % 7 - 3); }

uint32_t typeOfKernel = ATTUNE_RT_F32; // of the library asked for last

DLDataType typeOf(uint32_t dtype) {
  auto bits = static_cast<uint8_t>(8 * bytesOf(dtype));
  return {static_cast<uint8_t>(dtype == ATTUNE_RT_BF16 ? kDLBfloat : kDLFloat), bits, 1};
}

void describe(DLTensor &tensor, char *data, int64_t *shape, int64_t *strides, int32_t rank, DLDataType type) {
  tensor.data = data, tensor.shape = shape, tensor.strides = strides, tensor.ndim = rank, tensor.dtype = type;
  tensor.device.device_type = kDLCUDA;
}

} // namespace

const attune_rt_descriptor &projection::libraryOf(uint32_t dtype) {
  static attune_rt_product product;
  static attune_rt_variant variant;
  static attune_rt_tensor tensors[3];
  static attune_rt_descriptor descriptor;
  typeOfKernel = dtype;
  product = {0, dtype, 0, heads, width, depth};
  variant = {ATTUNE_RT_CUDA, 90, 0, 1, plans, "cubin", 5, nullptr, 0, kernels, 1, nullptr, 0, 0, &product, 1, 0};
  tensors[0] = {"x", ATTUNE_RT_INPUT, dtype, 3, 0, 0, 0, {batchSize, queriesSize, depth}, 0};
  tensors[1] = {"y", ATTUNE_RT_OUTPUT, ATTUNE_RT_F32, 4, 0, ATTUNE_RT_EMPTY_ZERO, 0, {batchSize, heads, queriesSize, width}, 0};
  tensors[2] = {"w", ATTUNE_RT_PARAMETER, dtype, 2, 0, 0, 0, {depth, columns}, 0};
  descriptor = {sizeof(descriptor), ATTUNE_RT_DESCRIPTOR_VERSION, "layer", "a projection", "by hand", 0, 3, tensors,
                {-1, -1, -1}, heads, heads, width, width, 1, &variant, 0, nullptr};
  return descriptor;
}

void projection::computeOnHost(const char *, const unsigned *, const uint64_t *slots) {
  auto *x = reinterpret_cast<const char *>(slots[0]), *w = reinterpret_cast<const char *>(slots[7]);
  auto *y = reinterpret_cast<float *>(slots[12]);
  auto size = [&](int slot) { return static_cast<int64_t>(slots[slot]); };
  int64_t bytes = bytesOf(typeOfKernel);
  for (int64_t b = 0; b < size(1); ++b)
    for (int64_t i = 0; i < size(2); ++i)
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += load(x + (b * size(4) + i * size(5) + k) * bytes, typeOfKernel) * load(w + (k * columns + c) * bytes, typeOfKernel);
        y[b * size(17) + c / width * size(18) + i * size(19) + c % width] = sum;
      }
}

char *Case::allocate(size_t bytes) {
  uint64_t address = 0;
  ++standIn.depth;
  int failed = allocateOnDevice(&address, bytes);
  --standIn.depth;
  owned.push_back(failed ? nullptr : reinterpret_cast<char *>(address));
  return owned.back();
}

/// Equal for elements that share their place.
float Case::number(int64_t b, int64_t i, int64_t k) const {
  int64_t element = b * place.entry + i * place.row + k;
  return static_cast<float>(element * 11 % 13 - 6);
}

Case::Case(void *driver, uint32_t dtype, int64_t batch, int64_t tokens, Place given)
    : standIn(*static_cast<StandIn *>(dlsym(driver, "standIn"))),
      allocateOnDevice(reinterpret_cast<decltype(allocateOnDevice)>(dlsym(driver, "cuMemAlloc_v2"))),
      freeOnDevice(reinterpret_cast<decltype(freeOnDevice)>(dlsym(driver, "cuMemFree_v2"))), batch(batch),
      tokens(tokens), place(given), xShape{batch, tokens, depth}, yShape{batch, heads, tokens, width} {
  if (place.entry < 0)
    place.entry = tokens * place.row + (place.row < depth ? depth : 0);
  xStrides[0] = place.entry, xStrides[1] = place.row, xStrides[2] = 1;
  int64_t bytes = bytesOf(dtype);
  char *x = allocate(static_cast<size_t>((place.before + batch * place.entry + tokens * place.row + depth) * bytes)) + place.before * bytes;
  char *y = allocate(static_cast<size_t>(batch * columns * tokens * 4));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t k = 0; k < depth; ++k)
        store(host(x) + (b * place.entry + i * place.row + k) * bytes, dtype, number(b, i, k));
  w.resize(static_cast<size_t>(depth * columns * bytes));
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t c = 0; c < columns; ++c)
      store(w.data() + (k * columns + c) * bytes, dtype, weight(k, c));
  describe(xTensor, x, xShape, xStrides, 3, typeOf(dtype));
  describe(yTensor, y, yShape, nullptr, 4, typeOf(ATTUNE_RT_F32));
  describe(wTensor, w.data(), wShape, nullptr, 2, typeOf(dtype));
  wTensor.device.device_type = kDLCPU;
}

Case::~Case() {
  const char *failing = standIn.failing;
  standIn.failing = nullptr;
  ++standIn.depth;
  for (char *data : owned)
    freeOnDevice(reinterpret_cast<uint64_t>(data));
  --standIn.depth;
  standIn.failing = failing;
}

namespace {
struct Two {
  size_t size;
  const DLTensor *first, *second;
};
const attune_rt_tensors *asTensors(const Two &tensors) { return reinterpret_cast<const attune_rt_tensors *>(&tensors); }
} // namespace

attune_status Case::prepare(const Handle &handle) const {
  Two parameters{sizeof(size_t) + sizeof(void *), &wTensor, nullptr};
  return attune_rt_prepare(handle.get(), asTensors(parameters));
}

size_t Case::workspace(const Handle &handle) const {
  Two tensors{sizeof(Two), &xTensor, &yTensor};
  size_t bytes = 0;
  return attune_rt_workspace(handle.get(), asTensors(tensors), &bytes) ? SIZE_MAX : bytes;
}

attune_status Case::run(const Handle &handle, void *stream, size_t missing) {
  Two tensors{sizeof(Two), &xTensor, &yTensor};
  size_t bytes = workspace(handle) - missing;
  return attune_rt_run(handle.get(), asTensors(tensors), allocate(bytes), bytes, stream);
}

int64_t Case::wrong() const {
  int64_t count = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t c = 0; c < columns; ++c) {
        float sum = 0, got;
        for (int64_t k = 0; k < depth; ++k)
          sum += number(b, i, k) * weight(k, c);
        memcpy(&got, host(static_cast<char *>(yTensor.data)) + (((b * heads + c / width) * tokens + i) * width + c % width) * 4, 4);
        count += got != sum;
      }
  return count;
}
