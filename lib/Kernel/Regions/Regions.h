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

struct LogStates;
struct PieceStates;

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
                                   const PieceStates &before);
/// The same of maps whose features are carried as exponents.
fusion::KernelRegion logChunkedRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                                      const LogStates &before);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_REGIONS_H
