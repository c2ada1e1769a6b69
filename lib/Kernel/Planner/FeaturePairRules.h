//===- FeaturePairRules.h - Attention over features, pair by pair -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_FEATUREPAIRRULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_FEATUREPAIRRULES_H

#include "RegionDraft.h"

namespace attune::kernel {

/// Sums over keys of values that products of features weigh.
struct FeatureSums {
  mlir::Value query, key, value;
  attn::DenominatorAttr guard;
  SeenKeys seen;
};

/// Of features that are exponents: the unit of each row, its denominator and its numerator.
fusion::Source sumsInUnits(const FeatureSums &of, RegionDraft &draft, const Place &at);

/// The keys of attention over features, or of its gradients.
SeenKeys keysOfFeatures(mlir::Operation *op);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_FEATUREPAIRRULES_H
