//===- FeatureMaps.h - Feature maps in kernels -*- C++ -*-----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of a tile of tokens are tiles side by side, one for most maps: cosformer has two. States have as many
// tiles one below the other. FAVOR whose stabilizer cancels has no features but their exponents (LogFeatures.h), and so has
// the focused map of high powers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FEATUREMAPS_H
#define ATTUNE_LIB_KERNEL_FEATUREMAPS_H

#include "Families.h"

namespace attune::kernel {

/// The number of columns of each tile of features.
llvm::SmallVector<int64_t, 2> featureWidths(const FeatureMap &map);

/// The heads that have features of keys of their own: those of the keys, or of the queries where each maps the keys its
/// own way.
int64_t parameterHeads(const Problem &problem, const FeatureMap &map);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FEATUREMAPS_H
