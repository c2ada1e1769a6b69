//===- ApproximateLawList.cpp - Rewritings that change the function -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/LawList.h"

using namespace attune;

static constexpr ListedLaw laws[] = {
    {"A1", "efficient", "softmax_j(s ⟨q_i, k_j⟩) V → softmax_f(q_i)ᵀ softmax_j(K)ᵀ V", "not causal; no window, low rank or lse",
     "Efficient Attention (arXiv 1812.01243), the global half of ELFATT (arXiv 2501.06098)", LawPlace::Consent,
     "(n + N) d dv multiply-adds in place of n N (d + dv)", false},
    {"A2", "local", "softmax over all keys → softmax over the keys of the query's block of 256",
     "n = N, a multiple of 256 and known; no window, low rank or lse", "the local half of ELFATT (arXiv 2501.06098), for sequences",
     LawPlace::Consent, "256 n (d + dv) multiply-adds in place of n N (d + dv)", false},
    {"A3", "agents", "softmax(s Q Kᵀ) V → softmax(s Q Aᵀ) softmax(s A Kᵀ) V, A the means of a runs of queries",
     "not causal; some a from 16 to 64 divides n, which is known; no window, low rank or lse",
     "Agent Attention (arXiv 2312.08874)", LawPlace::Consent,
     "(n + N) a (d + dv) multiply-adds in place of n N (d + dv)", false},
    {"A4", "drop_guards", "FAVOR with epsilon, bias and floor → with none of them, so that I12 holds",
     "a stabilizer; no state in or out; no naive low rank", "Rethinking Attention with Performers (arXiv 2009.14794)",
     LawPlace::Consent, "no pass over the keys for a maximum", false},
};

llvm::ArrayRef<ListedLaw> attune::approximateLawList() { return laws; }
