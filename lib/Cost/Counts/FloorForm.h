//===- FloorForm.h - Sums of floors of linear functions -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of loops are integers of this form in one variable x, the number of a program:
//
//     constant + slope x + Σ factor ⌊(slope x + offset) / divisor⌋
//
// Tiles that the causal mask leaves a block of 64 queries, in tiles of 48 keys, are ⌊(64 x + 111) / 48⌋. Such forms can
// be added, often divided, compared over a range of x, and summed over it without visiting each x. Minima and maxima
// are of this form where one side is the smaller one all over the range; who asks splits the range where that changes.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_FLOORFORM_H
#define ATTUNE_LIB_COST_COUNTS_FLOORFORM_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace attune::cost {

/// first ≤ x < last, not empty.
struct VariableRange {
  int64_t first, last;

  int64_t count() const { return last - first; }
  int64_t middle() const { return first + (last - first) / 2; }
};

struct FloorTerm {
  int64_t factor, slope, offset, divisor; ///< 0 < |slope| < divisor, 0 ≤ offset < divisor, factor ≠ 0
};

struct FloorForm {
  int64_t constant = 0, slope = 0;
  llvm::SmallVector<FloorTerm, 2> floors = {};

  bool isConstant() const { return slope == 0 && floors.empty(); }
  int64_t at(int64_t x) const;
  /// Over the range, without visiting each x.
  double sumOver(VariableRange range) const;

  /// Adds another form, so many times.
  void add(const FloorForm &other, int64_t times);
  /// ⌊form / divisor⌋, if that is such a form.
  std::optional<FloorForm> floorDiv(int64_t divisor) const;
};

/// The sign of a form over a range.
struct FormSign {
  enum Kind { NotNegative, NotPositive, Changes, Unknown } kind;
  int64_t change = 0; ///< where it changes: the first x of the other sign
};
FormSign signOver(const FloorForm &form, VariableRange range);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_FLOORFORM_H
