//===- Folded.h - Projections that are folded with what reads them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Selection may say that a projection is to be computed as x (W ωᵀ) instead of x W. What the op means stays the same; its
// one reader, a feature map that reads tokens through ωᵀ alone, then finds ω·token in the place of the token.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_FOLDED_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_FOLDED_H

#include "attune/Attn/Execution.h"

namespace attune::attn {

/// Whether the tokens are those of a folded projection.
inline bool isFolded(mlir::Value tokens) {
  auto project = tokens ? tokens.getDefiningOp<ProjectOp>() : ProjectOp();
  return project && executionOf(project).form == TermForm::Folded;
}

/// Why a map cannot do with ω·token in the place of the token; empty if it can. `cancels`: whether the stabilizer does.
inline llvm::StringRef whyNotThroughOmega(FeatureMapAttr map, bool keys, bool cancels) {
  if (map.getKind() == FeatureKind::FavorRelu)
    return "";
  if (map.getKind() != FeatureKind::Favor)
    return "the map has no ω";
  if (keys)
    return "-|k|^2/2 of the keys reads the tokens themselves";
  bool withoutNorm = map.getStabilizer() == Stabilizer::Constant || map.getStabilizer() == Stabilizer::Max;
  return cancels || withoutNorm ? "" : "-|q|^2/2 does not cancel against this stabilizer";
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_FOLDED_H
