//===- Drawn.h - Tensors of kernels' tests, drawn -*- C++ -*---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_KERNEL_DRAWN_H
#define ATTUNE_TEST_UNIT_KERNEL_DRAWN_H

#include "attune/Reference/Array.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <random>
#include <string>

namespace attune::test {

/// Normal, rows [.., n, d] as large as `first`; where `last` is given, they go from one to the other.
inline reference::Array drawNormal(std::mt19937_64 &random, llvm::ArrayRef<int64_t> shape, double first = 1,
                                   double last = 0) {
  reference::Array array(shape);
  std::normal_distribution<double> normal(0, 1);
  int64_t rows = shape[shape.size() - 2], width = shape.back();
  for (int64_t i = 0; i < array.bufferCount(); ++i) {
    double part = last == 0 || rows == 1 ? 0 : double(i / width % rows) / double(rows - 1);
    array.element(i) = normal(random) * (last == 0 ? first : first * std::pow(last / first, part));
  }
  return array;
}

/// How many keys each entry of the batch has, [B]: the first none, the last all. The rows of `key` and `value` [B, G,
/// N, d] that do not exist become NaN.
inline reference::Array drawLengths(std::mt19937_64 &random, reference::Array &key, reference::Array &value) {
  int64_t batch = key.size(0), keys = key.size(2);
  reference::Array lengths({batch});
  auto clear = [](reference::Array &array, int64_t b, int64_t g, int64_t j) {
    for (int64_t w = 0; w < array.size(3); ++w)
      array({b, g, j, w}) = NAN;
  };
  for (int64_t b = 0; b < batch; ++b) {
    int64_t length = b == 0 ? 0 : b + 1 == batch ? keys : static_cast<int64_t>(random() % (keys + 1));
    lengths({b}) = static_cast<double>(length);
    for (int64_t g = 0; g < key.size(1); ++g)
      for (int64_t j = length; j < keys; ++j)
        clear(key, b, g, j), clear(value, b, g, j);
  }
  return lengths;
}

/// A type's text; -1: `?`.
inline std::string tensorType(llvm::ArrayRef<int64_t> sizes, llvm::StringRef element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element.str() + ">";
}

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_KERNEL_DRAWN_H
