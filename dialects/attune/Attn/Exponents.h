//===- Exponents.h - Features beyond the range of f32 -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of kernel attention are relative to the others of their row, and some maps make features that differ by more
// than f32 spans: exponentials of FAVOR, high powers of the focused map. Kernels carry those as exponents of 2, each
// feature relative to its largest key. How far they differ is known from the map, for rows up to the norms for which
// tolerances are promised.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_EXPONENTS_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_EXPONENTS_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// How many powers of two the features of a key of `width` entries may lie below the largest of that feature.
double exponentSpan(FeatureMapAttr map, int64_t width);

/// Whether features are carried as exponents under a guard of the denominator: FAVOR's where its stabilizer cancels, and
/// those of the focused map where the least weight of a row would be below the range of f32. Never where nothing is divided: then a
/// row of small weights is small.
bool carriesExponents(FeatureMapAttr map, int64_t width, DenominatorAttr guard);

/// Whether features are those of one map, up to what a stabilizer takes off.
bool areAlike(MapOp a, MapOp b);

/// Whether features are above 0 by their map, so that their logarithms have cotangents.
bool haveLogarithms(FeatureMapAttr map);

/// Whether a shift, or a maximum over keys, is one of each feature.
inline bool isOfFeatures(mlir::Value shift) { return shift && llvm::cast<mlir::RankedTensorType>(shift.getType()).getRank() == 3; }

/// The width of a band of exponents: the product of two features whose exponents differ by less is in range.
inline constexpr double bandWidth = 176;

/// How many bands a causal block of keys is cut into, from the largest key of each feature downwards.
int64_t bandCount(FeatureMapAttr map, int64_t width);

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_EXPONENTS_H
