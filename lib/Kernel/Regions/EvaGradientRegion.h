//===- EvaGradientRegion.h - Gradients of EVA -*- C++ -*-----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_EVAGRADIENTREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_EVAGRADIENTREGION_H

#include "EvaShape.h"

namespace attune::kernel {

/// Tokens of q, k and v with a row for each query head, in f32.
struct EvaTokenGradients {
  Tokens query, key, value; ///< no memory: nobody asks for it
  bool addsToQuery = false, addsToKey = false, addsToValue = false; ///< what lies there
};

/// What reaches the summaries, and their tokens.
struct EvaMixGradient {
  Tokens cotangent, output; ///< ȳ and what the mix gives [batch, H, n, dv]
  EvaSummaries summaries;   ///< with lse
  EvaTokenGradients tokens;
  mlir::Value means, values; ///< mean̄ and summarȳ [batch, H, rows, …]
  mlir::Value products; ///< −δ [batch, H, n]; null: made where it is read
  mlir::Value meanParts, valueParts; ///< those of parts of the blocks, [part, batch, H, chunks, …]; null: weights are made by each sum for itself
};
/// Whether one kernel makes all sums of the mix, of weights that are made once.
bool sumsJointly(const Problem &problem, const EvaShape &shape);
llvm::SmallVector<fusion::KernelRegion, 4> evaMixGradientRegions(const Problem &problem, const EvaShape &shape, const EvaMixGradient &mix);

/// What each summary is made of, and what reaches that: μ, log Σ e^logit, ⟨summarȳ, β⟩, what each of its keys and each of its queries has of μ̄.
struct EvaSummaryGradient {
  mlir::Value means, values; ///< mean̄ [batch, H, rows, d] and summarȳ [batch, H, rows, dv]
  mlir::Value mu, keyShares, queryShares; ///< [batch, H, rows, d]
  mlir::Value lse, products;              ///< [batch, H, rows]
  EvaTokenGradients tokens;
};
llvm::SmallVector<fusion::KernelRegion, 4> evaSummaryGradientRegions(const Problem &problem, const EvaShape &shape, const EvaSummaryGradient &gradient);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_EVAGRADIENTREGION_H
