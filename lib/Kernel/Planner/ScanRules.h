//===- ScanRules.h - Rows that go through a state one after another -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A causal readout is computed chunk by chunk, with weights of the pairs of a chunk, or row by row (tile.scan). Row by row there are no
// pairs, no triangle and nothing to transpose, and a part of the state stays in registers for all rows of a tile. What has no part in
// that form is a matrix unit, so it is one for CPUs, and for operands of f32.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_SCANRULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_SCANRULES_H

#include "StateRules.h"

namespace attune::kernel {

/// Whether rows of a causal readout go through its state one after another. `divides`: something is divided by weights' sums. Numerator and denominator of a
/// row then have roundings of their own, so weights of which one could nearly cancel are products of pairs.
bool scansRows(const Problem &problem, const KeySums &sums, bool divides);

/// The tiles of a state of so many blocks of features, S_0, z_0, S_1, z_1, … or S_0, S_1, …
class StateTiles {
public:
  StateTiles(unsigned blocks, bool withSums) : blocks(blocks), withSums(withSums) {}

  fusion::Source matrices(fusion::Source state) const;
  fusion::Source sums(fusion::Source state) const;
  /// The state of both; of matrices alone where it has no sums.
  fusion::Source join(fusion::Source matrices, fusion::Source sums) const;

private:
  unsigned blocks;
  bool withSums;
};

/// Some tiles of a source, from `first` on.
fusion::Source tilesFrom(fusion::Source source, unsigned first, unsigned count);
/// A scan of operands, with what the features decay by, if they do: they are that axis of the state.
fusion::Source scanOf(terms::ScanForm form, llvm::SmallVector<fusion::Source> operands, const KeySums &sums, RegionDraft &draft, const Place &keys,
                      terms::ScanForm::Decay features);

/// Running sums of rows x on a sum s before them, each w_t times if there is such a factor, of blocks of features: the sums at each row, then behind all
/// rows. What decays has one block. `form`: in reverse, or without the own row where the keys decay.
fusion::Source runningSumsOf(terms::ScanForm form, fusion::Source x, fusion::Source s, fusion::Source w, const KeySums &sums, RegionDraft &draft,
                             const Place &keys);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_SCANRULES_H
