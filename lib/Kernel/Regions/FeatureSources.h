//===- FeatureSources.h - Feature maps as sources -*- C++ -*- --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_FEATURESOURCES_H
#define ATTUNE_LIB_KERNEL_REGIONS_FEATURESOURCES_H

#include "RegionPlanner.h"

namespace attune::kernel {

/// The features of queries and keys of one problem, in a region whose grid counts heads by `head`, of which there are
/// `heads`: those whose parameters a program reads.
class FeatureSources {
public:
  FeatureSources(const RegionPlanner &plan, const FeatureMap &map, fusion::Axis head, int64_t heads)
      : plan(plan), map(map), head(head), heads(heads), parameter(map.parameter ? makeParameter() : fusion::Source()) {}

  /// φ(q) of the query heads.
  fusion::Source queries() const;
  /// φ(k) of the heads that the grid counts.
  fusion::Source keys() const;

  /// The same as exponents, of maps that are carried as such (attn::carriesExponents): without stabilizer and m^{-1/2}, and of
  /// queries also without −|x'|²/2, as all of them cancel. Of keys that do not exist the features are 0.
  fusion::Source queryExponents() const;
  fusion::Source keyExponents() const;
  /// Of all keys of a tile, whether they exist or not; −|x'|²/2 is left out unless `squares`.
  fusion::Source rawKeyExponents(bool squares = true) const;

private:
  fusion::Source exponents(fusion::Source x, bool folded, bool squares) const;
  fusion::Source mapped(fusion::Source x, fusion::Axis axis, bool ofKeys) const;
  fusion::Source favor(fusion::Source x, bool ofKeys) const;
  fusion::Source written(llvm::ArrayRef<int64_t> widths) const;
  fusion::Source makeParameter() const;

  const RegionPlanner &plan;
  const FeatureMap &map;
  fusion::Axis head;
  int64_t heads;
  fusion::Source parameter; ///< null for maps without
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_FEATURESOURCES_H
