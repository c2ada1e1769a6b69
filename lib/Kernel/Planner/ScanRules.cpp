//===- ScanRules.cpp - Rows that go through a state one after another ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ScanRules.h"

#include "MapRule.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using terms::DecaySpan;
using terms::ScanForm;

/// Fewer rows, but for one, would load and store the state more often than they go through it.
static constexpr int64_t leastRows = 8;

/// Whether a first-level cache holds S, through which rows that erase go one by one: from the one behind it they are no faster than chunks.
static bool isNear(const KeySums &sums) {
  constexpr int64_t numbers = 8192;
  return cast<RankedTensorType>(sums.features.getType()).getDimSize(3) * sums.width() <= numbers;
}

bool kernel::scansRows(const Problem &problem, const KeySums &sums, bool divides) {
  tile::ScheduleAttr schedule = problem.schedule;
  if (schedule.getTarget() != tile::TargetKind::CPU || !(needsWideProducts(problem) || schedule.getOperand().isF32()))
    return false;
  // Heads that share a state read it all before a chunk enters it.
  if (problem.grouped || (problem.keyTile() > 1 && problem.keyTile() < leastRows && !sums.erase))
    return false;
  if (sums.erase && (sums.ofGradient || (problem.keyTile() > 1 && !isNear(sums))))
    return false;
  if (sums.decay && featureWidths(sums.features).size() > 1)
    return false;
  // The state of a long sequence is summed apart (Terms/Scan.cpp), which makes pairs the faster ones.
  constexpr int64_t longest = 98304;
  int64_t tokens = cast<RankedTensorType>(sums.features.getType()).getDimSize(2);
  if (!ShapedType::isDynamic(tokens) && tokens > longest)
    return false;
  return !divides || areNonnegative(sums.features);
}

Source kernel::tilesFrom(Source source, unsigned first, unsigned count) {
  return term(terms::select(llvm::to_vector<2>(llvm::seq(first, first + count))), {std::move(source)});
}

/// Every other tile.
static Source everyOther(Source state, unsigned first, unsigned count) {
  SmallVector<unsigned, 2> which;
  for (unsigned i = 0; i < count; ++i)
    which.push_back(2 * i + first);
  return term(terms::select(which), {std::move(state)});
}

Source StateTiles::matrices(Source state) const { return withSums ? everyOther(std::move(state), 0, blocks) : state; }
Source StateTiles::sums(Source state) const { return everyOther(std::move(state), 1, blocks); }

Source StateTiles::join(Source matrices, Source sums) const {
  if (!withSums)
    return matrices;
  SmallVector<unsigned, 2> which;
  for (unsigned i = 0; i < blocks; ++i)
    which.append({i, blocks + i});
  return term(terms::select(which), {term(terms::blocks(), {std::move(matrices), std::move(sums)})});
}

Source kernel::scanOf(ScanForm form, SmallVector<Source> operands, const KeySums &sums, RegionDraft &draft, const Place &keys, ScanForm::Decay features) {
  form.mayBeLong = ScanForm::isLong(cast<RankedTensorType>(sums.features.getType()).getDimSize(2));
  if (sums.decay) {
    form.decay = features;
    for (DecaySpan span : {form.reverse ? DecaySpan::Since : DecaySpan::Until, DecaySpan::Whole, DecaySpan::Own})
      operands.push_back(decayOver(span, sums.decay, draft, keys, featureWidths(sums.features)[0]));
  }
  return term(terms::scan(form), std::move(operands));
}

Source kernel::runningSumsOf(ScanForm form, Source x, Source s, Source w, const KeySums &sums, RegionDraft &draft, const Place &keys) {
  // Through a state of one row, which ones read.
  SmallVector<int64_t, 2> widths = featureWidths(sums.features);
  unsigned blocks = widths.size();
  Source ones = term(terms::onesOfRows(), {}), times = w ? term(terms::asColumn(), {std::move(w)}) : ones;
  Source scan = scanOf(form, {ones, times, std::move(x), term(terms::asRow(), {std::move(s)})}, sums, draft, keys, ScanForm::Decay::Columns);
  return term(terms::blocks(), {tilesFrom(scan, 0, blocks), term(terms::ofRow(), {tilesFrom(scan, blocks, blocks)})});
}
