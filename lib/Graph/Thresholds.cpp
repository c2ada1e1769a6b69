//===- Thresholds.cpp - From which length on which plan is the cheapest ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Thresholds.h"

#include "llvm/ADT/SmallSet.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::graph;

/// Segments that save less than this part of the price are not worth a function.
static constexpr double worthwhile = 0.01;

llvm::SmallVector<int64_t> graph::sampleLengths(int64_t longest) {
  llvm::SmallVector<int64_t> lengths;
  for (int step = 0;; ++step) {
    int64_t length = std::llround(std::exp2(step / 4.0));
    if (length > longest)
      return lengths;
    if (lengths.empty() || length > lengths.back())
      lengths.push_back(length);
  }
}

namespace {
/// Samples first … last, where one plan is to run.
struct Run {
  unsigned plan;
  size_t first, last;
};

/// Prices of all plans at the samples, and the runs that cover them.
class Envelope {
public:
  Envelope(unsigned plans, PriceAt price, llvm::ArrayRef<int64_t> lengths) : plans(plans), price(price), lengths(lengths) {
    for (auto [index, length] : llvm::enumerate(lengths))
      addSample(index, length);
  }

  llvm::ArrayRef<Run> simplify(unsigned most) {
    while (runs.size() > 1) {
      auto [least, neighbour, loss] = cheapestRemoval();
      if (runs.size() <= most && !repeats() && loss >= worthwhile)
        break;
      remove(least, neighbour);
    }
    return runs;
  }

private:
  struct Removal {
    size_t run, neighbour;
    double loss;
  };

  void addSample(size_t index, int64_t length) {
    unsigned best = runs.empty() ? 0 : runs.back().plan;
    for (unsigned plan = 0; plan < plans; ++plan)
      if (price(plan, length) < price(best, length))
        best = plan;
    if (runs.empty() || runs.back().plan != best)
      runs.push_back({best, index, index});
    runs.back().last = index;
  }

  bool repeats() const {
    llvm::SmallSet<unsigned, 4> seen;
    return llvm::any_of(runs, [&](const Run &run) { return !seen.insert(run.plan).second; });
  }

  /// The largest relative loss over a run's samples if another plan ran there.
  double loss(const Run &run, unsigned plan) const {
    double worst = 0;
    for (size_t index = run.first; index <= run.last; ++index)
      worst = std::max(worst, price(plan, lengths[index]) / price(run.plan, lengths[index]) - 1);
    return worst;
  }

  Removal cheapestRemoval() const {
    Removal best{0, 1, INFINITY};
    for (size_t index = 0; index < runs.size(); ++index)
      for (size_t neighbour : {index - 1, index + 1}) // index − 1 of 0 is out of range
        if (neighbour < runs.size())
          if (double here = loss(runs[index], runs[neighbour].plan); here < best.loss)
            best = {index, neighbour, here};
    return best;
  }

  void remove(size_t run, size_t neighbour) {
    runs[neighbour].first = std::min(runs[neighbour].first, runs[run].first);
    runs[neighbour].last = std::max(runs[neighbour].last, runs[run].last);
    runs.erase(runs.begin() + run);
    for (size_t index = 1; index < runs.size();)
      if (runs[index - 1].plan == runs[index].plan) {
        runs[index - 1].last = runs[index].last;
        runs.erase(runs.begin() + index);
      } else {
        ++index;
      }
  }

  unsigned plans;
  PriceAt price;
  llvm::ArrayRef<int64_t> lengths;
  llvm::SmallVector<Run> runs;
};
} // namespace

/// The first length in (low, high] at which `other` is cheaper than `plan`, given that it is at high.
static int64_t bisect(PriceAt price, unsigned plan, unsigned other, int64_t low, int64_t high) {
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (price(other, middle) < price(plan, middle) ? high : low) = middle;
  }
  return high;
}

llvm::SmallVector<Segment, 3> graph::solveThresholds(unsigned plans, PriceAt price, int64_t longest, unsigned most) {
  llvm::SmallVector<int64_t> lengths = sampleLengths(longest);
  Envelope envelope(plans, price, lengths);
  llvm::SmallVector<Segment, 3> segments;
  for (const Run &run : envelope.simplify(most)) {
    int64_t from = 0;
    if (!segments.empty())
      from = bisect(price, segments.back().plan, run.plan, lengths[run.first - 1], lengths[run.first]);
    segments.push_back({run.plan, from});
  }
  return segments;
}

std::optional<Crossover> graph::findCrossover(unsigned plan, unsigned other, PriceAt price, int64_t length,
                                              int64_t longest) {
  llvm::SmallVector<int64_t> lengths = sampleLengths(longest);
  auto cheaper = [&](int64_t at) { return price(other, at) < price(plan, at); };
  size_t above = llvm::upper_bound(lengths, length) - lengths.begin();
  for (size_t step = 0; step < lengths.size(); ++step) {
    if (step < above && cheaper(lengths[above - 1 - step])) {
      int64_t high = step == 0 ? length : lengths[above - step];
      return Crossover{bisect(price, other, plan, lengths[above - 1 - step], high), true};
    }
    if (above + step < lengths.size() && cheaper(lengths[above + step])) {
      int64_t low = step == 0 ? length : lengths[above + step - 1];
      return Crossover{bisect(price, plan, other, low, lengths[above + step]), false};
    }
  }
  return std::nullopt;
}
