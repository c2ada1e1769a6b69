//===- RaceCheck.h - Finds programs that meet in memory ---------------===//
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
#include "llvm/ADT/DenseSet.h"

namespace attune::reference {

/// The accesses of one launch: for each element of each buffer, which programs have read and written it.
class RaceCheck {
public:
  /// The program whose accesses follow.
  void enter(int64_t point) { current = point, seen.clear(); }
  /// What these points have done comes before what the current one does next.
  void sees(llvm::ArrayRef<int64_t> points) { seen.insert(points.begin(), points.end()); }

  /// False if a program that the current one does not see has written the element.
  bool read(const Array &memory, int64_t place);
  /// False if a program that the current one does not see has read or written the element.
  bool write(const Array &memory, int64_t place);

private:
  static constexpr int32_t nobody = -1, several = -2;
  struct Accesses {
    std::vector<int32_t> reader, writer;
  };
  Accesses &accessesOf(const Array &memory);
  bool isOrdered(int32_t point) const { return point == nobody || point == current || seen.contains(point); }

  llvm::DenseMap<const void *, Accesses> buffers;
  int32_t current = 0;
  llvm::DenseSet<int32_t> seen;
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_RACECHECK_H
