//===- FlurkaEquations.h - What FLuRKA counts of a layer -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "FLuRKA: Fast and Accurate Unified Low-Rank and Kernel Attention" compares three layers by equations (6), (7) and
// (8): multiply-adds of the projections, of the attention and one for each exponential of softmax and each element of a
// feature map. Of a map that needs no product (elu + 1) that one is what the sum of weights takes, n m of n m (dv + 1).
//
// The paper's claims about them are corrected here:
//
//   Claim 2, N > k > d: the fused layer needs less than the low-rank one.    It holds.
//   Claim 3, N > k (H + 2) and D > k: less than the kernel one.              False: N = 5111, D = 512, k = 511, d = 64.
//            N > k (2H + 1) and D > k is enough, and so are N > k (H + 2) and D - k >= d / 2.
//   Claim 1, N > k (H + 2) > D > k > d: less than both.                      False for the same sizes.
//
// None of the regions is tight. (7) - (8) is D (N (2 (D - k) + 1 + d) - k (2D + 1 + d)), which decides exactly; the
// paper's (10) prints 2 N D d in it where its (7) and (8) give N D d.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_FLURKAEQUATIONS_H
#define ATTUNE_COST_FLURKAEQUATIONS_H

#include <cstdint>

namespace attune::cost {

/// One layer over N tokens: D = H d.
struct FlurkaSizes {
  int64_t tokens = 1; ///< N
  int64_t slots = 1;  ///< k, the paper's d_k: what E compresses the tokens to
  int64_t heads = 1;  ///< H
  int64_t width = 1;  ///< d, the paper's d_h: of a head and of its features

  int64_t model() const { return heads * width; } ///< D, the paper's d_m
};

/// Equation (6), (7) or (8).
enum class FlurkaLayer { LowRank, Kernel, Fused };

/// Multiply-adds by the closed form of the equation; exact up to 2^53.
double flurkaEquation(FlurkaLayer layer, const FlurkaSizes &sizes);

/// Claim 3 as printed, N > k (H + 2) and D > k. Sizes inside it may still have (8) > (7).
bool inPrintedClaim3(const FlurkaSizes &sizes);
/// Claim 1 as printed, N > k (H + 2) > D > k > d.
bool inPrintedClaim1(const FlurkaSizes &sizes);
/// Claim 2: where (8) < (6) is proved.
bool inClaim2(const FlurkaSizes &sizes);
/// Claim 3 corrected, either of the two repairs: where (8) < (7) is proved.
bool inClaim3(const FlurkaSizes &sizes);
/// Claim 1 corrected: both.
bool inClaim1(const FlurkaSizes &sizes);

} // namespace attune::cost

#endif // ATTUNE_COST_FLURKAEQUATIONS_H
