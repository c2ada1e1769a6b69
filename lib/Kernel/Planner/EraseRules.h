//===- EraseRules.h - States from which keys erase -*- C++ -*---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The delta rule, a chunk at a time. With d_t the decay of the chunk up to token t (for each feature or for all), x = β ⊙ b:
//
//   L_ij = Σ_f x_if b_jf e^(d_if − d_jf) for j < i;   U = (I + L)⁻¹ (v − (e^d ⊙ x) S)
//   S ← e^(d_C) S + (e^(d_C − d) ⊙ b)ᵀ U
//
// So U is what the keys write of a state S. The chunk is an affine map of S, by a matrix: what it makes of the identity with v = 0.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_ERASERULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_ERASERULES_H

#include "StateRules.h"

namespace attune::kernel {

/// The tokens of a chunk of keys that decay, erase and write.
class ErasingKeys {
public:
  ErasingKeys(const KeySums &sums, RegionDraft &draft, const Place &keys);

  /// U of values (null: of none) and a state before the chunk.
  fusion::Source written(fusion::Source values, fusion::Source state) const;
  /// The step that brings S of so many columns over the chunk.
  fusion::StepForm step(fusion::Source written, int64_t width) const;
  /// The step that brings a matrix of features [m, width] over the chunk by its decay, and adds xᵀ y of each pair of rows (x, y).
  fusion::StepForm step(llvm::ArrayRef<std::pair<fusion::Source, fusion::Source>> added, int64_t width) const;
  /// 0 of tokens that do not exist.
  fusion::Source features() const { return b; }
  fusion::Source values() const { return v; }
  /// x = β ⊙ b, and (I + L)⁻¹, null for a chunk of one token.
  fusion::Source erasedFeatures() const { return erasing; }
  fusion::Source solution() const { return inverse; }

private:
  fusion::Source decayed(fusion::Source x, terms::DecaySpan span) const;
  /// The exponents of what is left over a span of the chunk.
  fusion::Source exponents(terms::DecaySpan span) const;

  int64_t count; ///< of features
  bool channels; ///< which decay each in its own way
  fusion::Source b, v, g, erasing, inverse; ///< g null: nothing decays
};

/// What a stage over all keys of a region does to a state: the one that it makes of none, and the matrix by which it changes any.
std::pair<fusion::Source, fusion::Source> erasingSpan(const KeySums &sums, RegionDraft &draft, const Place &keys);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_ERASERULES_H
