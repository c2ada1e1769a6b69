//===- Choices.h - A sequence of random choices --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_CHOICES_H
#define ATTUNE_TEST_RANDOM_CHOICES_H

#include "attune/Support/Random.h"

#include "llvm/ADT/ArrayRef.h"

namespace attune::random {

/// Choice i depends on the seed, the stream's name and i: adding a choice to one stream does not move another stream.
class Choices {
public:
  Choices(uint64_t seed, llvm::StringRef stream) : numbers(seed, stream) {}

  /// 0 … bound − 1.
  int64_t below(int64_t bound) { return static_cast<int64_t>(numbers.below(next++, bound)); }
  /// first … last.
  int64_t between(int64_t first, int64_t last) { return first + below(last - first + 1); }
  /// True once in `times`.
  bool once(int64_t times) { return below(times) == 0; }
  template <typename T> T pick(std::initializer_list<T> list) { return *(list.begin() + below(list.size())); }
  template <typename T> const T &pick(llvm::ArrayRef<T> list) { return list[below(list.size())]; }
  double uniform(double low, double high) { return low + (high - low) * numbers.uniform(next++); }
  double normal() { return numbers.normal(next++); }
  /// A size up to `most`: often small, 1 not rarely, and now and then a multiple of 64 or its neighbour.
  int64_t size(int64_t most);

private:
  RandomTensor numbers;
  uint64_t next = 0;
};

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_CHOICES_H
