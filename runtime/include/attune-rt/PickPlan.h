//===- PickPlan.h - Which plan serves n queries and N keys ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the runtime and for tools that choose as it does. C++, and no part of the ABI.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_PICKPLAN_H
#define ATTUNE_RT_PICKPLAN_H

#include <cstdint>

namespace attune::rt {

/// Index of the last of `count` plans with fromLength(i) <= L = 2nN / (n + N), compared exactly; the first serves 0.
template <typename FromLength>
uint32_t pickPlan(uint32_t count, FromLength fromLength, int64_t queries, int64_t keys) {
  using Wide = unsigned __int128;
  Wide n = static_cast<uint64_t>(queries), N = static_cast<uint64_t>(keys);
  uint32_t picked = 0;
  if (n + N == 0) // L is 0
    return picked;
  for (uint32_t i = 1; i < count; ++i)
    if (static_cast<Wide>(static_cast<uint64_t>(fromLength(i))) * (n + N) <= 2 * n * N)
      picked = i;
  return picked;
}

} // namespace attune::rt

#endif // ATTUNE_RT_PICKPLAN_H
