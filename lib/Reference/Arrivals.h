//===- Arrivals.h - Programs that wait for the last of their group ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_ARRIVALS_H
#define ATTUNE_LIB_REFERENCE_ARRIVALS_H

#include "attune/Reference/Array.h"

#include <map>

namespace attune::reference {

/// The counters of one launch (`tile.arrive`). They live here: what the memory holds does not matter.
class Arrivals {
public:
  struct Group {
    int64_t count = 0;               ///< points that it waits for
    llvm::SmallVector<int64_t> here; ///< those that have come
  };
  /// The group that counts at this place of a memory.
  Group &at(const Array &memory, int64_t place) { return groups[{memory.identity(), place}]; }
  /// A group that some points never came to, or null.
  const Group *incomplete() const {
    for (auto &[place, group] : groups)
      if (static_cast<int64_t>(group.here.size()) != group.count)
        return &group;
    return nullptr;
  }

private:
  std::map<std::pair<const void *, int64_t>, Group> groups;
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_ARRIVALS_H
