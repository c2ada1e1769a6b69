//===- Array.cpp - A strided array of f64 in host memory -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Array.h"

#include "attune/Reference/Rounding.h"
#include "llvm/ADT/STLExtras.h"

using namespace attune::reference;

std::optional<int64_t> attune::reference::elementCount(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t most = int64_t(1) << 40;
  int64_t count = 1;
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t size : shape) {
    if (size < 0 || size > most || (size > 0 && count > most / size))
      return std::nullopt;
    count *= std::max<int64_t>(size, 1);
  }
  return empty ? 0 : count;
}

static llvm::SmallVector<int64_t, 4> rowMajor(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

Array::Array(llvm::ArrayRef<int64_t> shape, double fill)
    : buffer(std::make_shared<std::vector<double>>(elementCount(shape).value_or(0), fill)), sizes(shape),
      steps(rowMajor(shape)) {}

std::optional<Array> Array::view(std::shared_ptr<std::vector<double>> buffer, int64_t offset,
                                 llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
  std::optional<int64_t> count = elementCount(shape);
  if (!count || shape.size() != strides.size())
    return std::nullopt;
  // The elements of least and of greatest place.
  __int128 low = offset, high = offset;
  for (auto [size, stride] : llvm::zip_equal(shape, strides))
    (stride < 0 ? low : high) += *count == 0 ? 0 : __int128(size - 1) * stride;
  if (*count > 0 && (low < 0 || high >= static_cast<__int128>(buffer->size())))
    return std::nullopt;
  Array array;
  array.buffer = std::move(buffer);
  array.offset = offset;
  array.sizes.assign(shape.begin(), shape.end());
  array.steps.assign(strides.begin(), strides.end());
  return array;
}

std::optional<Array> Array::collapsed(llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> groups) const {
  Array result(*this);
  result.sizes.clear(), result.steps.clear();
  for (llvm::ArrayRef<int64_t> group : groups) {
    int64_t count = 1, step = steps[group.back()];
    for (int64_t dimension : llvm::reverse(group)) {
      if (steps[dimension] != step * count && sizes[dimension] > 1)
        return std::nullopt;
      count *= sizes[dimension];
    }
    result.sizes.push_back(count), result.steps.push_back(step);
  }
  return result;
}

std::optional<Array> Array::withHeadsAsRows(int64_t groups) const {
  if (rank() != 4 || groups < 1 || sizes[1] % groups != 0 || (sizes[2] > 1 && sizes[1] > 1 && steps[1] != sizes[2] * steps[2]))
    return std::nullopt;
  int64_t group = sizes[1] / groups;
  Array result(*this);
  result.sizes[1] = groups, result.sizes[2] *= group;
  result.steps[1] *= group, result.steps[2] = sizes[2] > 1 ? steps[2] : steps[1];
  return result;
}

int64_t Array::count() const { return elementCount(sizes).value_or(0); }

int64_t Array::place(llvm::ArrayRef<int64_t> indices) const {
  int64_t place = offset;
  for (auto [index, stride] : llvm::zip_equal(indices, steps))
    place += index * stride;
  return place;
}

std::vector<double> Array::elements() const {
  std::vector<double> result;
  result.reserve(count());
  llvm::SmallVector<int64_t, 4> indices(rank(), 0);
  for (int64_t left = count(); left > 0; --left) {
    result.push_back((*this)(indices));
    for (int64_t i = rank() - 1; i >= 0 && ++indices[i] == sizes[i]; --i)
      indices[i] = 0;
  }
  return result;
}

Array attune::reference::makeArray(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values, mlir::Type element) {
  Array array(shape);
  for (auto [i, value] : llvm::enumerate(values.take_front(array.count())))
    array.element(i) = element ? roundTo(value, element) : value;
  return array;
}
