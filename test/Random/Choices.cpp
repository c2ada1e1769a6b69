//===- Choices.cpp - A sequence of random choices ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Choices.h"

#include <algorithm>

using namespace attune::random;

int64_t Choices::size(int64_t most) {
  switch (below(6)) {
  case 0: return 1;
  case 1: return between(1, std::min<int64_t>(most, 9));
  case 2: {
    int64_t multiple = 64 * between(1, std::max<int64_t>(most / 64, 1)) + between(-1, 1);
    return std::clamp<int64_t>(multiple, 1, most);
  }
  default: return between(1, most);
  }
}
