//===- FloorForm.cpp - Sums of floors of linear functions -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FloorForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace attune;
using namespace attune::cost;
using llvm::divideFloorSigned;

static int64_t remainder(int64_t a, int64_t b) { return a - b * divideFloorSigned(a, b); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

int64_t FloorForm::at(int64_t x) const {
  int64_t value = constant + slope * x;
  for (const FloorTerm &term : floors)
    value += term.factor * divideFloorSigned(term.slope * x + term.offset, term.divisor);
  return value;
}

void FloorForm::add(const FloorForm &other, int64_t times) {
  constant += times * other.constant, slope += times * other.slope;
  for (const FloorTerm &term : other.floors) {
    auto *same = llvm::find_if(floors, [&](const FloorTerm &mine) {
      return mine.slope == term.slope && mine.offset == term.offset && mine.divisor == term.divisor;
    });
    if (same == floors.end())
      floors.push_back({times * term.factor, term.slope, term.offset, term.divisor});
    else if ((same->factor += times * term.factor) == 0)
      floors.erase(same);
  }
  llvm::erase_if(floors, [](const FloorTerm &term) { return term.factor == 0; });
}

/// ⌊(slope x + offset) / divisor⌋, its whole multiples outside the floor.
static FloorForm floorOf(int64_t slope, int64_t offset, int64_t divisor) {
  int64_t whole = slope / divisor;
  FloorForm form{divideFloorSigned(offset, divisor), whole, {}};
  slope -= whole * divisor;
  if (slope != 0)
    form.floors.push_back({1, slope, remainder(offset, divisor), divisor});
  return form;
}

std::optional<FloorForm> FloorForm::floorDiv(int64_t divisor) const {
  if (divisor <= 0)
    return std::nullopt;
  // Floors whose factors the divisor divides leave the floor; of the others there may be one, alone with a constant.
  FloorForm outside;
  llvm::SmallVector<FloorTerm, 2> inside;
  for (const FloorTerm &term : floors)
    if (term.factor % divisor == 0)
      outside.floors.push_back({term.factor / divisor, term.slope, term.offset, term.divisor});
    else
      inside.push_back(term);
  if (inside.empty()) {
    outside.add(floorOf(slope, constant, divisor), 1);
    return outside;
  }
  int64_t factor = inside.front().factor;
  if (inside.size() > 1 || slope % divisor != 0 || factor < 0 || divisor % factor != 0)
    return std::nullopt;
  // ⌊(f ⌊u / e⌋ + c) / d⌋ = ⌊(⌊u / e⌋ + ⌊c / f⌋) / (d / f)⌋ = ⌊(u + e ⌊c / f⌋) / (e d / f)⌋
  const FloorTerm &term = inside.front();
  outside.slope += slope / divisor;
  outside.add(floorOf(term.slope, term.offset + term.divisor * divideFloorSigned(constant, factor),
                      term.divisor * (divisor / factor)),
              1);
  return outside;
}

//===----------------------------------------------------------------------===//
// Over ranges
//===----------------------------------------------------------------------===//

/// Sequences may be longer than the square root of 2^63.
using Wide = __int128;

/// Σ_{0 ≤ i < count} ⌊(slope·i + offset) / divisor⌋ for slope, offset ≥ 0, in O(log) steps: whole multiples are summed
/// in closed form, and the rest counts lattice points under a line, which swaps the roles of slope and divisor.
static double floorSum(Wide count, Wide divisor, Wide slope, Wide offset) {
  Wide sum = 0;
  while (count > 0) {
    sum += count * (count - 1) / 2 * (slope / divisor) + count * (offset / divisor);
    slope %= divisor, offset %= divisor;
    Wide top = slope * count + offset;
    if (top < divisor)
      break;
    count = top / divisor, offset = top % divisor;
    std::swap(slope, divisor);
  }
  return static_cast<double>(sum);
}

/// Σ ⌊(slope x + offset) / divisor⌋; a falling line is read from the other end.
static double sumOfFloors(const FloorTerm &term, VariableRange range) {
  int64_t start = term.slope > 0 ? range.first : range.last - 1;
  int64_t offset = term.slope * start + term.offset, whole = divideFloorSigned(offset, term.divisor);
  return static_cast<double>(whole) * static_cast<double>(range.count()) +
         floorSum(range.count(), term.divisor, std::abs(term.slope), offset - whole * term.divisor);
}

double FloorForm::sumOver(VariableRange range) const {
  auto count = static_cast<double>(range.count());
  double sum = static_cast<double>(constant) * count +
               static_cast<double>(slope) * (static_cast<double>(range.first + range.last - 1) * count / 2);
  for (const FloorTerm &term : floors)
    sum += static_cast<double>(term.factor) * sumOfFloors(term, range);
  return sum;
}

/// The first x of a range at whose end `holds`, and not at its start.
template <typename Predicate> static int64_t firstThat(VariableRange range, Predicate holds) {
  int64_t no = range.first, yes = range.last - 1;
  while (yes - no > 1) {
    int64_t middle = no + (yes - no) / 2;
    (holds(middle) ? yes : no) = middle;
  }
  return yes;
}

/// A line that a form is never above (`up`), or never below, at one x.
static double lineAt(const FloorForm &form, bool up, int64_t x) {
  double value = static_cast<double>(form.constant) + static_cast<double>(form.slope) * static_cast<double>(x);
  for (const FloorTerm &term : form.floors) {
    bool atMost = (term.factor > 0) == up; // ⌊u / d⌋ ≤ u / d, and ≥ (u − d + 1) / d
    auto numerator = static_cast<double>(term.slope) * static_cast<double>(x) +
                     static_cast<double>(term.offset - (atMost ? 0 : term.divisor - 1));
    value += static_cast<double>(term.factor) * numerator / static_cast<double>(term.divisor);
  }
  return value;
}

FormSign cost::signOver(const FloorForm &form, VariableRange range) {
  int64_t first = form.at(range.first), last = form.at(range.last - 1);
  bool rises = form.slope >= 0, falls = form.slope <= 0;
  for (const FloorTerm &term : form.floors)
    rises &= (term.factor > 0) == (term.slope > 0), falls &= (term.factor > 0) != (term.slope > 0);
  if (rises || falls) {
    if (std::min(first, last) >= 0)
      return {FormSign::NotNegative};
    if (std::max(first, last) <= 0)
      return {FormSign::NotPositive};
    bool positive = last > 0;
    return {FormSign::Changes, firstThat(range, [&](int64_t x) { return (form.at(x) > 0) == positive; })};
  }
  // An integer that is above −1 is not negative.
  if (std::min(lineAt(form, false, range.first), lineAt(form, false, range.last - 1)) > -0.99)
    return {FormSign::NotNegative};
  if (std::max(lineAt(form, true, range.first), lineAt(form, true, range.last - 1)) < 0.99)
    return {FormSign::NotPositive};
  return {FormSign::Unknown};
}
