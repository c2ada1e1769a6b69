//===- DrawnTensor.cpp - A tensor that may be wrong, and what is wrong ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DrawnTensor.h"

#include <algorithm>
#include <cstdio>

using namespace attune::fuzz;

static constexpr int64_t edges[] = {-1, 0, 1, 2, 3, 8, 33, 100, 1 << 16, INT32_MAX, int64_t(1) << 31, int64_t(1) << 32,
                                    int64_t(1) << 61, int64_t(1) << 62, INT64_MAX, INT64_MIN, INT64_MIN + 1, -8};

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// The element that stands first in memory at the buffer's begin, or the last one at its end.
void DrawnTensor::place(bool atEnd) {
  __int128 low, high;
  bool fits = extent(low, high) && high - low <= __int128(GuardedBuffer::bytes);
  uint8_t *address = !fits ? buffer->begin() : atEnd ? buffer->end() - int64_t(high) : buffer->begin() - int64_t(low);
  tensor.data = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(address) - tensor.byte_offset);
}

void DrawnTensor::draw(Choices &choices, const Sizes &sizes) {
  room = info.rank;
  shape.reset(new int64_t[room]), strides.reset(new int64_t[room]);
  isNull = false;
  tensor = {nullptr, {kDLCPU, 0}, info.rank, info.dtype, shape.get(), nullptr, 0};
  int64_t step = 1;
  bool gaps = choices.ConsumeBool();
  for (int dim = room - 1; dim >= 0; --dim) {
    shape[dim] = info.shape[dim] < 0 ? sizes[-1 - info.shape[dim]] : info.shape[dim];
    strides[dim] = step;
    step *= shape[dim] + (gaps ? choices.ConsumeIntegralInRange(0, 2) : 0);
  }
  if (gaps)
    tensor.strides = strides.get();
  for (int changes = choices.ConsumeIntegralInRange(0, 15) - 13; changes > 0; --changes)
    spoil(choices);
  place(choices.ConsumeBool());
  if (choices.ConsumeIntegralInRange(0, 63) == 63)
    tensor.data = nullptr;
}

void DrawnTensor::spoil(Choices &choices) {
  int dim = room ? choices.ConsumeIntegralInRange(0, room - 1) : 0;
  switch (choices.ConsumeIntegralInRange(0, 10)) {
  case 0:
    isNull = true;
    break;
  case 1:
    tensor.ndim = choices.PickValueInArray({-1, 0, 1, 2, 3, 4, 5, 6, 7, INT32_MAX, INT32_MIN});
    break;
  case 2:
    tensor.dtype = {choices.ConsumeIntegral<uint8_t>(), choices.ConsumeIntegral<uint8_t>(),
                    choices.ConsumeIntegralInRange<uint16_t>(0, 2)};
    break;
  case 3:
    tensor.device = {choices.ConsumeIntegralInRange(-1, 20), choices.ConsumeIntegralInRange(-1, 1)};
    break;
  case 4:
    tensor.shape = nullptr;
    break;
  case 5:
    tensor.strides = nullptr;
    break;
  case 6:
    tensor.byte_offset = static_cast<uint64_t>(choices.PickValueInArray(edges));
    break;
  case 7:
  case 8:
    if (room)
      shape[dim] = choices.PickValueInArray(edges);
    break;
  default:
    tensor.strides = strides.get();
    if (room)
      strides[dim] = choices.PickValueInArray(edges);
  }
}

/// One line to standard error, for the report of a fault.
void DrawnTensor::print() const {
  std::fprintf(stderr, "%s: %sndim %d, dtype {%d, %d, %d}, device {%d, %d}, data %p, byte_offset %lld, shape %s", info.name,
               isNull ? "null; " : "", tensor.ndim, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes,
               tensor.device.device_type, tensor.device.device_id, tensor.data,
               static_cast<long long>(tensor.byte_offset), tensor.shape ? "" : "null ");
  for (int dim = 0; dim < room; ++dim)
    std::fprintf(stderr, "%lld*%lld ", static_cast<long long>(shape[dim]), static_cast<long long>(stride(dim)));
  std::fprintf(stderr, "\n");
}

//===----------------------------------------------------------------------===//
// What attune.h says
//===----------------------------------------------------------------------===//

bool DrawnTensor::isEmpty() const { return std::find(shape.get(), shape.get() + room, 0) != shape.get() + room; }

int64_t DrawnTensor::stride(int dim) const {
  if (tensor.strides)
    return strides[dim];
  uint64_t step = 1;
  for (int inner = room - 1; inner > dim; --inner)
    step *= static_cast<uint64_t>(shape[inner]);
  return static_cast<int64_t>(step);
}

bool DrawnTensor::extent(__int128 &low, __int128 &high) const {
  constexpr __int128 limit = __int128(1) << 62;
  low = 0, high = info.dtype.bits / 8;
  for (int dim = 0; dim < room; ++dim) {
    if (shape[dim] <= 1)
      continue;
    __int128 reach = __int128(shape[dim] - 1) * stride(dim);
    if (reach < -limit || reach > limit)
      return false;
    (reach < 0 ? low : high) += reach * (info.dtype.bits / 8);
  }
  return high - low <= limit;
}

bool DrawnTensor::hasSizes(Sizes &sizes) const {
  for (int dim = 0; dim < room; ++dim) {
    int64_t want = info.shape[dim] < 0 ? sizes[-1 - info.shape[dim]] : info.shape[dim];
    if (shape[dim] < 0 || (want >= 0 && want != shape[dim]))
      return false;
    if (info.shape[dim] < 0)
      sizes[-1 - info.shape[dim]] = shape[dim];
  }
  return true;
}

bool DrawnTensor::hasStrides() const {
  bool parameter = info.role == ATTUNE_PARAMETER;
  if (room && shape[room - 1] > 1 && stride(room - 1) != 1 && !parameter)
    return false;
  for (int dim = 0; dim < room; ++dim)
    if (isOutput() && shape[dim] > 1 && stride(dim) == 0)
      return false;
  return true;
}

bool DrawnTensor::isRight(Sizes &sizes) const {
  if (isNull)
    return info.role == ATTUNE_OPTIONAL_INPUT || info.role == ATTUNE_OPTIONAL_OUTPUT;
  bool type = tensor.dtype.code == info.dtype.code && tensor.dtype.bits == info.dtype.bits && tensor.dtype.lanes == 1;
  int32_t kind = tensor.device.device_type;
  bool host = kind == kDLCPU || kind == kDLCUDAHost || kind == kDLCUDAManaged;
  if (tensor.ndim != room || !type || !host || (room && !tensor.shape) || !hasSizes(sizes))
    return false;
  if (isEmpty())
    return true;
  __int128 low, high, address = __int128(reinterpret_cast<uintptr_t>(tensor.data)) + tensor.byte_offset;
  return hasStrides() && extent(low, high) && tensor.data && address <= UINT64_MAX && address % (info.dtype.bits / 8) == 0;
}

//===----------------------------------------------------------------------===//
// Where the elements are
//===----------------------------------------------------------------------===//

bool DrawnTensor::isInside() const {
  Sizes any = {-1, -1, -1};
  if (isNull || !tensor.shape || tensor.ndim != room || !hasSizes(any))
    return false;
  if (isEmpty())
    return true;
  __int128 low, high;
  return extent(low, high) && address() + low >= reinterpret_cast<uintptr_t>(buffer->begin()) &&
         address() + high <= reinterpret_cast<uintptr_t>(buffer->end());
}

/// Of every element, in elements from the address.
std::vector<int64_t> DrawnTensor::offsets() const {
  std::vector<int64_t> result = {0}, next;
  for (int dim = 0; dim < room; ++dim, result.swap(next)) {
    next.clear();
    for (int64_t offset : result)
      for (int64_t i = 0; i < shape[dim]; ++i)
        next.push_back(offset + (shape[dim] > 1 ? i * stride(dim) : 0));
  }
  return result;
}

bool DrawnTensor::overlapsItself() const {
  if (isNull || isEmpty())
    return false;
  std::vector<int64_t> all = offsets();
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

bool DrawnTensor::leftAlone(uint8_t byte) const {
  std::vector<bool> mine(GuardedBuffer::bytes, false);
  int64_t bytes = info.dtype.bits / 8;
  auto start = static_cast<int64_t>(address() - reinterpret_cast<uintptr_t>(buffer->begin()));
  for (int64_t offset : isNull ? std::vector<int64_t>() : offsets())
    for (int64_t i = 0; i < bytes; ++i)
      mine[start + offset * bytes + i] = true;
  for (size_t i = 0; i < mine.size(); ++i)
    if (!mine[i] && buffer->begin()[i] != byte)
      return false;
  return true;
}
