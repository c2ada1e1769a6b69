//===- ToyData.cpp - Tensors for the toy library and its results ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToyData.h"

using namespace toy;

Tensor::Tensor(std::vector<int64_t> sizes, DLDataType dtype) : shape(std::move(sizes)), strides(shape.size()) {
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  bytes.resize(static_cast<size_t>(stride) * dtype.bits / 8 + 64);
  tensor.data = bytes.data();
  tensor.device.device_type = kDLCPU;
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.dtype = dtype;
  tensor.shape = shape.data();
  tensor.strides = strides.data();
}

Tensor &Tensor::operator=(Tensor &&other) noexcept {
  // The vectors keep their memory when moved, so the pointers into them stay valid.
  bytes = std::move(other.bytes);
  shape = std::move(other.shape);
  strides = std::move(other.strides);
  tensor = other.tensor;
  return *this;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

float &Tensor::at(std::vector<int64_t> index) {
  int64_t offset = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    offset += index[dim] * strides[dim];
  return data()[offset];
}

Tensor toy::sequenceMajor(int64_t batch, int64_t heads, int64_t rows, int64_t columns) {
  Tensor result({batch, heads, rows, columns});
  result.strides = {heads * rows * columns, columns, heads * columns, 1};
  result.tensor.strides = result.strides.data();
  return result;
}

void toy::fillWithIntegers(Tensor &tensor, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data()[i] = static_cast<float>(static_cast<int>(state >> 24) % 5 - 2);
  }
}

Case::Case(int64_t batch, int64_t queries, int64_t keys, bool sequenceMajorInputs)
    : batch(batch), queries(queries), keys(keys) {
  auto make = [&](int64_t heads, int64_t rows, int64_t columns) {
    return sequenceMajorInputs ? sequenceMajor(batch, heads, rows, columns) : Tensor({batch, heads, rows, columns});
  };
  q = make(toyHeads, queries, toyHeadDim);
  k = make(toyKvHeads, keys, toyHeadDim);
  v = make(toyKvHeads, keys, toyValueDim);
  o = make(toyHeads, queries, toyValueDim);
  keyLengths = Tensor({batch}, {kDLInt, 32, 1});
  initialState = Tensor({batch, toyKvHeads, toyHeadDim, toyValueDim});
  finalState = Tensor({batch, toyKvHeads, toyHeadDim, toyValueDim});
  lse = Tensor({batch, toyHeads, queries});
  fillWithIntegers(q, 1);
  fillWithIntegers(k, 2);
  fillWithIntegers(v, 3);
  fillWithIntegers(initialState, 4);
  for (int64_t b = 0; b < batch; ++b)
    keyLengths.data<int32_t>()[b] = static_cast<int32_t>(keys - (b % 2 ? keys / 3 : 0));
  for (int64_t i = 0; i < o.elements(); ++i)
    o.data()[i] = 1e30f;
  tensors.size = sizeof(tensors);
  tensors.q = &q.tensor;
  tensors.k = &k.tensor;
  tensors.v = &v.tensor;
  tensors.key_lengths = &keyLengths.tensor;
  tensors.o = &o.tensor;
}

void Case::addOptional() {
  tensors.initial_state = &initialState.tensor;
  tensors.lse = &lse.tensor;
  tensors.final_state = &finalState.tensor;
}

double Case::expectedState(int64_t b, int64_t g, int64_t f, int64_t c) {
  double sum = tensors.initial_state ? initialState.at({b, g, f, c}) : 0.0;
  for (int64_t j = 0; j < keyLengths.data<int32_t>()[b]; ++j)
    sum += double(k.at({b, g, j, f})) * v.at({b, g, j, c});
  return sum;
}

double Case::expectedOutput(int64_t b, int64_t h, int64_t i, int64_t c) {
  double sum = 0.0;
  for (int64_t f = 0; f < toyHeadDim; ++f)
    sum += q.at({b, h, i, f}) * expectedState(b, h / 2, f, c);
  return sum;
}

double Case::expectedLse(int64_t b, int64_t h, int64_t i) {
  double sum = 0.0;
  for (int64_t j = 0; j < keyLengths.data<int32_t>()[b]; ++j)
    for (int64_t f = 0; f < toyHeadDim; ++f)
      sum += double(q.at({b, h, i, f})) * k.at({b, h / 2, j, f});
  return sum;
}

int64_t Case::wrongOutputs() {
  int64_t wrong = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < toyHeads; ++h)
      for (int64_t c = 0; c < toyValueDim; ++c) {
        double states[toyHeadDim];
        for (int64_t f = 0; f < toyHeadDim; ++f)
          states[f] = expectedState(b, h / 2, f, c);
        for (int64_t i = 0; i < queries; ++i) {
          double sum = 0.0;
          for (int64_t f = 0; f < toyHeadDim; ++f)
            sum += q.at({b, h, i, f}) * states[f];
          wrong += o.at({b, h, i, c}) != static_cast<float>(sum);
        }
      }
  return wrong;
}

Handle toy::makeHandle(const attune_options &options) {
  toy_handle *handle = nullptr;
  if (toy_create(&options, &handle))
    return nullptr;
  Handle owned(handle);
  if (toy_prepare(handle, nullptr))
    return nullptr;
  return owned;
}

attune_status toy::run(toy_handle *handle, const toy_tensors &tensors) {
  size_t bytes = 0;
  if (attune_status status = toy_workspace(handle, &tensors, &bytes))
    return status;
  size_t rounded = (bytes + ATTUNE_WORKSPACE_ALIGNMENT) / ATTUNE_WORKSPACE_ALIGNMENT * ATTUNE_WORKSPACE_ALIGNMENT;
  std::unique_ptr<void, decltype(&free)> workspace(aligned_alloc(ATTUNE_WORKSPACE_ALIGNMENT, rounded), free);
  return toy_run(handle, &tensors, workspace.get(), bytes, nullptr);
}
