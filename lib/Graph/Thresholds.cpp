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

/// Segments that save less than this part of the price are not worth a function. Chosen, and not measured: prices are
/// off by several times as much (docs/Performance.md), so that a smaller saving is none that they could tell.
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
  Envelope(unsigned plans, PriceAt price, llvm::ArrayRef<int64_t> lengths)
      : plans(plans), price(price), lengths(lengths) {
    for (auto [index, length] : llvm::enumerate(lengths))
      addSample(index, length);
  }

  llvm::ArrayRef<Run> simplify(unsigned most) {
    while (runs.size() > 1) {
      size_t least = 0;
      Removal removal = removalOf(0);
      for (size_t run = 1; run < runs.size(); ++run)
        if (Removal other = removalOf(run); other.loss() < removal.loss())
          least = run, removal = other;
      if (runs.size() <= most && !repeats() && removal.worst >= worthwhile)
        break;
      remove(least, removal.split);
    }
    return runs;
  }

private:
  /// How a run's samples are divided if it goes: those before `split` to the run before it, the others to the one
  /// after.
  struct Removal {
    size_t split;
    double worst = 0, sum = 0; ///< of the relative losses of the samples

    std::pair<double, double> loss() const { return {worst, sum}; }
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

  Removal lossOf(size_t run, size_t split) const {
    Removal removal{split};
    for (size_t index = runs[run].first; index <= runs[run].last; ++index) {
      unsigned plan = runs[index < split ? run - 1 : run + 1].plan;
      double loss = price(plan, lengths[index]) / price(runs[run].plan, lengths[index]) - 1;
      removal.worst = std::max(removal.worst, loss), removal.sum += loss;
    }
    return removal;
  }

  /// The division with the least loss. There is more than one run.
  Removal removalOf(size_t run) const {
    size_t begin = runs[run].first, end = runs[run].last + 1;
    if (run == 0)
      return lossOf(run, begin);
    Removal best = lossOf(run, end);
    if (run + 1 < runs.size())
      for (size_t split = begin; split < end; ++split)
        if (Removal other = lossOf(run, split); other.loss() < best.loss())
          best = other;
    return best;
  }

  void remove(size_t run, size_t split) {
    if (run > 0)
      runs[run - 1].last = split - 1;
    if (run + 1 < runs.size())
      runs[run + 1].first = split;
    runs.erase(runs.begin() + run);
    if (run > 0 && run < runs.size() && runs[run - 1].plan == runs[run].plan) {
      runs[run - 1].last = runs[run].last;
      runs.erase(runs.begin() + run);
    }
  }

  unsigned plans;
  PriceAt price;
  llvm::ArrayRef<int64_t> lengths;
  llvm::SmallVector<Run> runs;
};
} // namespace

/// The first length in (low, high] that has a property, given that high has it, low has not, and it changes once.
static int64_t bisect(int64_t low, int64_t high, llvm::function_ref<bool(int64_t)> property) {
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (property(middle) ? high : low) = middle;
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
      from = bisect(lengths[run.first - 1], lengths[run.first],
                    [&](int64_t length) { return price(run.plan, length) < price(segments.back().plan, length); });
    segments.push_back({run.plan, from});
  }
  return segments;
}

std::optional<Crossover> graph::findCrossover(unsigned plan, unsigned other, PriceAt price, int64_t length,
                                              int64_t longest) {
  llvm::SmallVector<int64_t> lengths = sampleLengths(longest);
  auto cheaper = [&](int64_t at) { return price(other, at) < price(plan, at); };
  auto notCheaper = [&](int64_t at) { return !cheaper(at); };
  size_t above = llvm::upper_bound(lengths, length) - lengths.begin();
  for (size_t step = 0; step < lengths.size(); ++step) {
    if (step < above && cheaper(lengths[above - 1 - step])) {
      int64_t high = step == 0 ? length : lengths[above - step];
      return Crossover{bisect(lengths[above - 1 - step], high, notCheaper), true};
    }
    if (above + step < lengths.size() && cheaper(lengths[above + step])) {
      int64_t low = step == 0 ? length : lengths[above + step - 1];
      return Crossover{bisect(low, lengths[above + step], cheaper), false};
    }
  }
  return std::nullopt;
}
