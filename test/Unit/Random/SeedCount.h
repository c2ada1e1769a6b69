//===- SeedCount.h - How many seeds a random test takes ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_RANDOM_SEEDCOUNT_H
#define ATTUNE_TEST_UNIT_RANDOM_SEEDCOUNT_H

#include <cstdlib>

/// `usual`, or the value of ATTUNE_RANDOM_SEEDS: the long sweep takes more, and a failure is repeated with as many as
/// its seed needs.
inline int seedCount(int usual) {
  const char *text = std::getenv("ATTUNE_RANDOM_SEEDS");
  int count = text ? std::atoi(text) : usual;
  return count > 0 ? count : usual;
}

#endif // ATTUNE_TEST_UNIT_RANDOM_SEEDCOUNT_H
