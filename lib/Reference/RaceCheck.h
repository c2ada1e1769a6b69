//===- RaceCheck.h - Finds grid points that meet in memory ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_RACECHECK_H
#define ATTUNE_LIB_REFERENCE_RACECHECK_H

#include "attune/Reference/Array.h"

#include "llvm/ADT/DenseMap.h"

namespace attune::reference {

/// The accesses of one launch: for each element of each buffer, which grid points have read and written it.
class RaceCheck {
public:
  /// The grid point whose accesses follow.
  void enter(int64_t point) { current = point; }

  /// False if another grid point has written the element.
  bool read(const Array &memory, int64_t place);
  /// False if another grid point has read or written the element.
  bool write(const Array &memory, int64_t place);

private:
  static constexpr int32_t nobody = -1, several = -2;
  struct Accesses {
    std::vector<int32_t> reader, writer;
  };
  Accesses &accessesOf(const Array &memory);

  llvm::DenseMap<const void *, Accesses> buffers;
  int32_t current = 0;
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_RACECHECK_H
