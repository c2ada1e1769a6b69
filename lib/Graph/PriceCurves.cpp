//===- PriceCurves.cpp - What the plans cost that were not taken ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Selector.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::graph;

std::string Selector::formsOf(const Candidate &candidate) {
  std::string text;
  for (auto [group, choice] : llvm::enumerate(candidate.choice))
    if (candidate.computed[group])
      text += (text.empty() ? "" : ", ") + named(group, choice).name();
  return text;
}

void Selector::describeRejected(FunctionSelection &selection) {
  constexpr size_t most = 10;
  unsigned chosen = chosenAt(selection.length);
  selection.takenForms = formsOf(candidates[chosen]);
  auto all = llvm::seq<unsigned>(0, candidates.size());
  SmallVector<unsigned> rejected = llvm::filter_to_vector(all, [&](unsigned index) { return index != chosen && !candidates[index].steps; });
  llvm::stable_sort(rejected, [&](unsigned a, unsigned b) {
    return seconds(a, selection.length) < seconds(b, selection.length);
  });
  for (unsigned index : ArrayRef<unsigned>(rejected).take_front(most))
    selection.rejected.push_back({formsOf(candidates[index]), seconds(index, selection.length)});
}

/// From 16 on, four an octave, as far as anybody plots.
static SmallVector<int64_t> plottedLengths(int64_t longest) {
  SmallVector<int64_t> lengths;
  for (int step = 0;; ++step) {
    int64_t length = std::llround(16 * std::exp2(step / 4.0));
    if (length > std::min<int64_t>(longest, 1 << 17))
      return lengths;
    lengths.push_back(length);
  }
}

void Selector::describeCurves(FunctionSelection &selection) {
  SmallVector<int64_t> plotted = plottedLengths(lengths->longest());
  auto add = [&](std::string name, llvm::function_ref<double(int64_t)> price) {
    PriceCurve &curve = selection.curves.emplace_back(PriceCurve{std::move(name), {}});
    for (int64_t length : plotted)
      curve.points.push_back({length, price(length)});
  };
  // What a library for this one length takes is what it takes at any.
  int64_t known = lengths->reference();
  bool unknown = lengths->unknown();
  add("taken", [&](int64_t length) { return seconds(chosenAt(unknown ? length : known), length); });
  if (std::optional<PricedPlan> softmax = softmaxPlan())
    add("exact softmax", [&](int64_t length) { return metric.price(*softmax, lengths->sizesAt(length)).seconds; });
  for (auto [group, forms] : llvm::enumerate(memo.groups()))
    for (unsigned index = 0; index < forms.alternatives.size(); ++index)
      if (cheapestWith(group, index, known))
        add(named(group, index).name(),
            [&, group = group](int64_t length) { return seconds(*cheapestWith(group, index, length), length); });
}
