//===- ProductTrial.cpp - Whether cuBLASLt computes what was meant --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small whole numbers: their products and sums are exact in any order, so a result is right or wrong. This also loads
// cuBLASLt's kernel, which a run under capture must not.
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "Common/Copy.h"
#include "Memory.h"
#include "Module.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>

using namespace attune::rt;

namespace {

constexpr int64_t tokens = 16, judged[] = {0, 5, tokens - 1};
constexpr int64_t mostDepth = 1 << 20; // above it sums might not be exact

int64_t xAt(int64_t i, int64_t k) { return (i * 7 + k * 3 + i * k % 11) % 5 - 2; }
int64_t wAt(int64_t k, int64_t c) { return (k * 5 + c * 11 + k * c % 13) % 7 - 3; }

/// -3 ... 3 in the type.
void store(char *to, uint32_t dtype, int64_t value) {
  static constexpr uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200};
  auto number = static_cast<float>(value);
  uint32_t bits;
  memcpy(&bits, &number, 4);
  if (dtype == ATTUNE_RT_F32) {
    memcpy(to, &bits, 4);
    return;
  }
  auto half = static_cast<uint16_t>(halves[value < 0 ? -value : value] | (value < 0 ? 0x8000 : 0));
  auto narrow = static_cast<uint16_t>(dtype == ATTUNE_RT_F16 ? half : bits >> 16);
  memcpy(to, &narrow, 2);
}

/// Tensors of a trial, one after another in one block. All heads would take the whole weight: two show whether the
/// distance between heads is right.
struct Trial {
  const attune_rt_product &asked;
  int64_t batch;
  int64_t bytes = asked.dtype == ATTUNE_RT_F32 ? 4 : 2;
  int64_t heads = asked.heads < 2 ? asked.heads : 2;
  size_t xBytes = roundUp(static_cast<size_t>(batch * tokens * asked.depth * bytes), 64);
  size_t wBytes = roundUp(static_cast<size_t>(asked.depth * heads * asked.width * bytes), 64);
  size_t outBytes = static_cast<size_t>(batch * heads * tokens * asked.width * 4);
  size_t beforeOut() const { return xBytes + wBytes; }
  size_t all() const { return xBytes + wBytes + outBytes; }

  void fill(char *data) const {
    for (int64_t i = 0; i < batch * tokens; ++i)
      for (int64_t k = 0; k < asked.depth; ++k)
        store(data + (i * asked.depth + k) * bytes, asked.dtype, xAt(i, k));
    for (int64_t k = 0; k < asked.depth; ++k)
      for (int64_t c = 0; c < heads * asked.width; ++c)
        store(data + xBytes + static_cast<size_t>((k * heads * asked.width + c) * bytes), asked.dtype, wAt(k, c));
    memset(data + beforeOut(), 0xff, outBytes);
  }

  bool isRight(const float *out) const {
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i : judged)
        for (int64_t c = 0; c < heads * asked.width; ++c) {
          int64_t sum = 0;
          for (int64_t k = 0; k < asked.depth; ++k)
            sum += xAt(b * tokens + i, k) * wAt(k, c);
          int64_t row = (b * heads + c / asked.width) * tokens + i;
          if (out[row * asked.width + c % asked.width] != static_cast<float>(sum))
            return false;
        }
    return true;
  }
};

attune_status multiplyOnce(const attune_rt_handle &handle, const Place &place, const Trial &trial, Product product,
                           char *device, bool &done) {
  attune_rt_product few = trial.asked;
  few.heads = trial.heads;
  product.asked = &few;
  auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
  uint64_t x = reinterpret_cast<uint64_t>(device), w = x + trial.xBytes, out = x + trial.beforeOut();
  uint64_t batch = number(trial.batch), depth = number(few.depth), width = number(few.width),
           heads = number(few.heads), n = number(tokens), columns = heads * width;
  const uint64_t slots[] = {x,   batch, n,     depth,   n * depth, depth,          1,         //
                            w,   depth, columns, columns, 1,                                  //
                            out, batch, heads, n,       width,     heads * n * width, n * width, width, 1};
  return multiply(handle, place, product, slots, nullptr, nullptr, done);
}

attune_status run(const attune_rt_handle &handle, const Place &place, const Trial &trial, const Product &product,
                  Memory &host, bool &done) {
  const CudaCode &code = *handle.cuda;
  DeviceMemory device;
  if (attune_status status = device.allocate(code, place, trial.all()))
    return status;
  if (attune_status status = copyToDevice(code, place, device.data, host.data, trial.all()))
    return status;
  if (attune_status status = multiplyOnce(handle, place, trial, product, device.data, done))
    return status;
  if (attune_status status = finishDeviceWork(code, place))
    return status;
  auto out = reinterpret_cast<CuAddress>(device.data) + trial.beforeOut();
  return checkCuda(place, *code.driver, code.driver->copyToHost(host.data + trial.beforeOut(), out, trial.outBytes),
                   "cuMemcpyDtoH");
}

/// The layout of w has the leading dimension of a trial, then its own again.
BlasStatus setLeading(const CudaCode &code, const Product &product, int64_t heads) {
  int64_t leading = heads * product.asked->width;
  return code.blas->layoutSet(product.w, blasLayoutLeading, &leading, sizeof(leading));
}

/// What is wrong; null if nothing is.
const char *tryOnce(const attune_rt_handle &handle, const Place &place, const Product &product, int64_t batch) {
  const CudaCode &code = *handle.cuda;
  Trial trial{*product.asked, batch};
  Memory host;
  if (product.asked->depth > mostDepth || !host.allocate(trial.all(), 64))
    return "it is too large to be tried";
  trial.fill(host.data);
  bool done = false;
  if (setLeading(code, product, trial.heads))
    return "cuBLASLt did not take its layout";
  if (run(handle, place, trial, product, host, done))
    return attune_rt_message();
  if (!done || setLeading(code, product, product.asked->heads))
    return "cuBLASLt did not take the algorithm that it gave";
  return trial.isRight(reinterpret_cast<const float *>(host.data + trial.beforeOut())) ? nullptr
                                                                                       : "cuBLASLt computed something else";
}

} // namespace

bool attune::rt::tryProduct(const attune_rt_handle &handle, const Place &place, Product &product, BlasReason &reason) {
  CudaScope scope(*handle.cuda, place);
  const char *wrong = scope.status ? attune_rt_message() : nullptr;
  for (int64_t batch : {1, 3}) // all heads of an entry in a call, and all entries of a head
    wrong = wrong ? wrong : tryOnce(handle, place, product, batch);
  if (wrong)
    snprintf(reason.text, sizeof(reason.text), "%s", wrong);
  return !wrong;
}
