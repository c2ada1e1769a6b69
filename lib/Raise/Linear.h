//===- Linear.h - Linear attention found in terms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_LINEAR_H
#define ATTUNE_LIB_RAISE_LINEAR_H

#include "Match.h"

#include "attune/Attn/Attn.h"

namespace attune::raise {

/// φ of an entry.
struct MappedEntry {
  TermRef entry;
  attn::FeatureKind kind;
};
std::optional<MappedEntry> readFeatureMap(Terms &terms, TermRef factor);

/// Σ_jd φ(q)_id φ(k)_jd v_j / max(Σ_jd φ(q)_id φ(k)_jd + bias, floor); q, k, masks and the rest as for softmax.
struct LinearMatch : SoftmaxMatch {
  attn::FeatureKind map = attn::FeatureKind::Elu1;
  bool normalised = false;
  double bias = 0, floor = 0;
};

bool matchLinear(Terms &terms, mlir::Value root, LinearMatch &match, Refusal &refusal);
/// As `buildSoftmax`: attn.kernel, or its terms without a denominator.
mlir::Value buildLinear(mlir::OpBuilder &builder, Terms &terms, const LinearMatch &match, const Visibility &visibility,
                        Refusal &refusal);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_LINEAR_H
