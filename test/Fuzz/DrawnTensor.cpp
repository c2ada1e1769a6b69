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

static constexpr int64_t edges[] = {-1,
                                    0,
                                    1,
                                    2,
                                    3,
                                    8,
                                    33,
                                    100,
                                    1 << 16,
                                    INT32_MAX,
                                    int64_t(1) << 31,
                                    int64_t(1) << 32,
                                    int64_t(1) << 61,
                                    int64_t(1) << 62,
                                    INT64_MAX,
                                    INT64_MIN,
                                    INT64_MIN + 1,
                                    -8};

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// The byte that stands first at the buffer's begin, or the last one at its end; sometimes a few elements inside.
void DrawnTensor::place(GuardedBuffer &where, Choices &choices) {
  buffer = &where;
  Wide low = 0, high = 0;
  bool fits = extent(low, high) && high - low <= Wide(GuardedBuffer::bytes);
  uint64_t bytes = info.dtype.bits / 8,
           inside = &where == own ? 0 : choices.ConsumeIntegralInRange<uint64_t>(0, 600) * bytes;
  auto first = reinterpret_cast<uintptr_t>(where.begin());
  if (fits && choices.ConsumeBool())
    first = reinterpret_cast<uintptr_t>(where.end()) - static_cast<uint64_t>(high) - inside;
  else if (fits)
    first += inside - static_cast<uint64_t>(low);
  tensor.data = reinterpret_cast<void *>(first - tensor.byte_offset);
}

void DrawnTensor::draw(Choices &choices, const Sizes &sizes, GuardedBuffer *other) {
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
  place(other ? *other : *own, choices);
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
  std::fprintf(stderr, "%s: %sndim %d, dtype {%d, %d, %d}, device {%d, %d}, data %p, byte_offset %lld, shape %s",
               info.name, isNull ? "null; " : "", tensor.ndim, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes,
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

bool DrawnTensor::extent(Wide &low, Wide &high) const {
  constexpr Wide most = Wide(1) << 56;
  Wide count = high = info.dtype.bits / 8;
  low = 0;
  for (int dim = 0; dim < room; ++dim) {
    Wide reach = shape[dim] <= 1 ? 0 : Wide(shape[dim] - 1) * stride(dim);
    count *= shape[dim];
    if (shape[dim] < 0 || reach < -most || reach > most || count > most)
      return false;
    (reach < 0 ? low : high) += reach * (info.dtype.bits / 8);
  }
  return high - low <= most;
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
  Wide low, high, address = Wide(reinterpret_cast<uintptr_t>(tensor.data)) + tensor.byte_offset;
  return hasStrides() && extent(low, high) && tensor.data && address + low >= 0 && address + high <= UINT64_MAX &&
         address <= UINT64_MAX && address % (info.dtype.bits / 8) == 0;
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
  Wide low, high;
  return extent(low, high) && address() + low >= reinterpret_cast<uintptr_t>(buffer->begin()) &&
         address() + high <= reinterpret_cast<uintptr_t>(buffer->end());
}

std::vector<uintptr_t> DrawnTensor::elements() const {
  std::vector<uintptr_t> result, next;
  if (!isNull && !isEmpty())
    result.push_back(address());
  for (int dim = 0; dim < room; ++dim, result.swap(next)) {
    next.clear();
    for (uintptr_t begin : result)
      for (int64_t i = 0; i < shape[dim]; ++i)
        next.push_back(begin + static_cast<uintptr_t>(shape[dim] > 1 ? i * stride(dim) : 0) * (info.dtype.bits / 8));
  }
  return result;
}
