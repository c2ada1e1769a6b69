//===- Footprint.cpp - Which bytes a tensor's elements take ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two runs share a byte if the difference of their beginnings d lies in -length of one < d < length of the other. That
// difference is a sum of steps, each times a whole number of known bounds, so the question is whether such a sum hits an
// interval. The numbers are tried from the largest step down; of each only those whose rest the smaller steps can make up
// for, in layouts whose dimensions nest one or two.
//
//===----------------------------------------------------------------------===//

#include "Footprint.h"

using namespace attune::rt;

namespace {

/// Sums of `terms` numbers in least … most, each times its step, that are to lie in above < sum < below.
class Search {
public:
  Search(int64_t above, int64_t below) : above(above), below(below) {}

  /// A number of a step that is there already joins it.
  void join(int64_t step, int64_t least, int64_t most);
  void add(int64_t step, int64_t least, int64_t most);
  /// Whether there is a sum that begins with `start`; `nonzero`: other than of nothing but zeros.
  bool succeeds(int64_t start, bool nonzero);

private:
  struct Term {
    int64_t step, least, most;
    int64_t restLeast, restMost; ///< of the sums of all later terms
  };
  bool from(uint32_t term, int64_t sum, bool counts);

  int64_t above, below;
  uint32_t terms = 0;
  Term all[2 * ATTUNE_RT_MAX_RANK];
  int32_t patience = 20000; ///< numbers that may be tried
};

void Search::add(int64_t step, int64_t least, int64_t most) {
  uint32_t place = terms++;
  for (; place > 0 && all[place - 1].step < step; --place)
    all[place] = all[place - 1];
  all[place] = {step, least, most, 0, 0};
}

void Search::join(int64_t step, int64_t least, int64_t most) {
  for (uint32_t term = 0; term < terms; ++term)
    if (all[term].step == step) {
      all[term].least += least, all[term].most += most;
      return;
    }
  add(step, least, most);
}

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

bool Search::from(uint32_t term, int64_t sum, bool counts) {
  if (term == terms)
    return counts && sum > above && sum < below;
  const Term &t = all[term];
  // sum + number · step + the rest lies in the interval for some rest.
  int64_t least = floorDivide(above - sum - t.restMost, t.step) + 1, most = -floorDivide(sum + t.restLeast - below, t.step) - 1;
  least = least > t.least ? least : t.least, most = most < t.most ? most : t.most;
  for (int64_t number = least; number <= most; ++number) {
    if (--patience < 0)
      return true;
    if (from(term + 1, sum + number * t.step, counts || number != 0))
      return true;
  }
  return false;
}

bool Search::succeeds(int64_t start, bool nonzero) {
  int64_t least = 0, most = 0;
  for (uint32_t term = terms; term-- > 0;) {
    all[term].restLeast = least, all[term].restMost = most;
    least += all[term].step * all[term].least, most += all[term].step * all[term].most;
  }
  return from(0, start, !nonzero);
}

/// A dimension that goes on where runs end makes them longer.
void lengthenRuns(Footprint &footprint) {
  while (footprint.dims > 0 && footprint.step[footprint.dims - 1] == footprint.run)
    footprint.run *= footprint.count[--footprint.dims];
}

} // namespace

Footprint attune::rt::footprintOf(const SlotView &view, uint32_t dtype) {
  Footprint result;
  if (!view.present() || view.empty())
    return result;
  int64_t bytes = elementBytes(dtype);
  result.begin = result.end = view.slots[0];
  result.run = bytes;
  for (uint32_t dim = 0; dim < view.rank; ++dim) {
    int64_t count = view.size(dim);
    if (count == 1) // the stride is any number
      continue;
    int64_t step = view.stride(dim) * bytes;
    (step < 0 ? result.begin : result.end) += static_cast<uint64_t>(step * (count - 1));
    step = step < 0 ? -step : step;
    uint32_t place = result.dims++;
    for (; place > 0 && result.step[place - 1] < step; --place)
      result.step[place] = result.step[place - 1], result.count[place] = result.count[place - 1];
    result.step[place] = step, result.count[place] = count;
  }
  result.end += static_cast<uint64_t>(bytes);
  // A step of 0 leads to no other bytes; rows that it repeats are told by the strides.
  while (result.dims > 0 && result.step[result.dims - 1] == 0)
    --result.dims;
  lengthenRuns(result);
  return result;
}

Footprint attune::rt::footprintOf(const void *data, size_t bytes) {
  Footprint result;
  result.begin = reinterpret_cast<uint64_t>(data), result.end = result.begin + bytes;
  result.run = static_cast<int64_t>(bytes);
  return result;
}

bool attune::rt::overlapsItself(const Footprint &f) {
  // Where each step leads past all that the smaller ones reach, there is nothing to search for.
  int64_t reach = f.run;
  bool nested = true;
  for (uint32_t dim = f.dims; dim-- > 0; reach += f.step[dim] * (f.count[dim] - 1))
    nested = nested && f.step[dim] >= reach;
  if (nested)
    return false;
  Search search(-f.run, f.run);
  for (uint32_t dim = 0; dim < f.dims; ++dim)
    search.add(f.step[dim], 1 - f.count[dim], f.count[dim] - 1);
  return search.succeeds(0, /*nonzero=*/true);
}

bool attune::rt::overlap(const Footprint &a, const Footprint &b) {
  if (a.empty() || b.empty() || a.end <= b.begin || b.end <= a.begin)
    return false;
  // The run of a begins d = a.begin − b.begin + Σ i step − Σ j step bytes after that of b.
  Search search(-a.run, b.run);
  for (uint32_t dim = 0; dim < a.dims; ++dim)
    search.join(a.step[dim], 0, a.count[dim] - 1);
  for (uint32_t dim = 0; dim < b.dims; ++dim)
    search.join(b.step[dim], 1 - b.count[dim], 0);
  return search.succeeds(static_cast<int64_t>(a.begin - b.begin), /*nonzero=*/false);
}
