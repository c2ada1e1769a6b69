//===- Regions.h - The regions of each mechanism -*- C++ -*- ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H
#define ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

struct StateMemory;

/// Exact attention by online softmax; `scale` multiplies the logits.
fusion::KernelRegion softmaxRegion(const Problem &problem, double scale);

/// Polynomial attention with all pair weights (attn.polynomial).
fusion::KernelRegion polynomialRegion(const Problem &problem, int64_t degree, double scale, attn::DenominatorAttr guard);

/// Kernel attention with all pair weights in tiles.
fusion::KernelRegion quadraticRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard);

/// The same of maps whose features are carried as exponents.
fusion::KernelRegion logQuadraticRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard);

/// Causal kernel attention chunk by chunk, n = N; if problem.split, after the states of the parts before, in `before`.
fusion::KernelRegion chunkedRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                                   const StateMemory &before);
/// The same of maps whose features are carried as exponents.
fusion::KernelRegion logChunkedRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                                      const StateMemory &before);

/// problem.output.memory [batch, heads, tokens, width] = the projection of problem.query.
fusion::KernelRegion projectionRegion(const Problem &problem);

/// problem.output.memory [batch, tokens, D] = the heads of problem.query side by side · weight [heads·width, D] + bias. `areSums` says
/// that nothing has divided them (attune/Attn/HeadRange.h).
fusion::KernelRegion outputProjectionRegion(const Problem &problem, bool areSums, const OutputProjection &projection);

/// Efficient attention: softmax over the features of q, over the keys of k. The means of values for each feature of the keys, into
/// `means` [batch, G, d, dv], and what queries read of them.
fusion::KernelRegion effattMeansRegion(const Problem &problem, mlir::Value means);
fusion::KernelRegion effattReadoutRegion(const Problem &problem, mlir::Value means);

/// Naive FLuRKA: φ(problem.query) (featuresᵀ · problem.value), both over compressed slots, the features being problem.key; no
/// denominator. The state of the slots into `state`, and what queries read of it.
fusion::KernelRegion slotStateRegion(const Problem &problem, const FeatureMap &map, mlir::Value state);
fusion::KernelRegion slotReadoutRegion(const Problem &problem, const FeatureMap &map, mlir::Value state);

/// result [batch, heads] = FAVOR's stabilizer over the existing keys, in units of log 2; −∞ where no key exists.
fusion::KernelRegion keyMaximumRegion(const Problem &problem, const FeatureMap &map, mlir::Value result);

/// φ of the keys, or its exponents and their factors, into `result`: the blocks of features side by side, in f32.
fusion::KernelRegion featuresRegion(const Problem &problem, const FeatureMap &map, bool exponents, const Tokens &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H
