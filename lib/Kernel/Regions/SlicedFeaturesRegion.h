//===- SlicedFeaturesRegion.h - Features of which tiles have slices -*- C++ -*- -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_SLICEDFEATURESREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_SLICEDFEATURESREGION_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

/// Features of tokens in a memory of their own, for readers of which each tile has a slice.
struct FeatureSlices {
  const Problem &problem; ///< its keys are the tokens
  attn::FeatureMapAttr map;
  mlir::Value parameter, shift; ///< ω or focus; c of the keys, where it is a maximum
  int64_t features, channels;   ///< m, d
  bool folded;                  ///< tokens are ω·x already
  bool exponents, ofKeys;
  int64_t heads; ///< which have features of their own
  Tokens result = {};
  mlir::Value position = {}; ///< of token 0 of each entry; null: 0

  /// Blocks of features side by side: of cosformer two; exponents of powers and their mantissas.
  int64_t blocks() const;
  /// Columns of a block.
  int64_t width() const;

  fusion::KernelRegion region() const;
  /// FAVOR's features from exponents, which `region` has made: m^{-1/2} (2^(L − c) + ε).
  fusion::KernelRegion powersRegion(const Tokens &products) const;
  /// `maximum` [batch, heads]: c of the keys, where that is the maximum over all of them.
  fusion::KernelRegion maximumRegion(const Tokens &products, mlir::Value maximum) const;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_SLICEDFEATURESREGION_H
