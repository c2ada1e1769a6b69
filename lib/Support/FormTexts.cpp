//===- FormTexts.cpp - What the forms of a law are, in a few words --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/FormTexts.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune;

namespace {
struct FormText {
  llvm::StringLiteral law, form, text;
};
} // namespace

static constexpr FormText texts[] = {
    {"linearize", "quadratic", "every query with every key that it sees, tile by tile: cost grows with n N"},
    {"linearize", "state",
     "keys and values are summed up in one matrix first, then queries read it: cost grows with n + N"},
    {"linearize", "fused_state", "state, with the sum and the reading in one kernel"},
    {"linearize", "merged_state", "state, with what pieces of the keys sum up to added up in the kernel that makes the last one"},
    {"linearize", "chunked", "causal, chunk by chunk; what earlier chunks sum up to is carried along: cost grows with n"},
    {"linearize", "split",
     "chunked, in parts of the sequence side by side, after what the keys of all but the last sum up to"},
    {"linearize", "grouped", "chunked, once for all query heads that share a key-value head"},
    {"fold", "apart", "tokens are projected, then multiplied by the random features"},
    {"fold", "folded", "weight and random features are multiplied by `prepare`, so that tokens meet one matrix"},
    {"low_rank", "project_first", "E (x W): tokens are projected, then compressed"},
    {"low_rank", "compress_first", "(E x) W: the layer's input is compressed, then the few rows are projected"},
    {"project", "materialized", "a kernel of its own stores the projected tokens"},
    {"project", "fused", "the kernel that reads projected tokens computes them itself, tile by tile"},
    {"project_out", "materialized", "a kernel of its own reads the stored heads and multiplies them by wo"},
    {"project_out", "epilogue", "the kernel that computes the heads multiplies each by wo at once; none is stored"},
    {"map", "fused", "the kernel that reads keys maps them itself, tile by tile, as often as it reads them"},
    {"map", "materialized", "a kernel of its own stores the features of all keys, once for all that read them"},
    {"launch", "sequential", "one part after the other"},
    {"launch", "co_launched", "the first kernels of all parts in one launch, then the second ones"},
    {"keys", "in_order", "a core goes through all keys that a block of queries sees"},
    {"keys", "split", "pieces of the keys side by side; the core with the last of them puts together what all have left"},
};

llvm::StringRef attune::describeForm(llvm::StringRef law, llvm::StringRef form) {
  const FormText *found =
      llvm::find_if(texts, [&](const FormText &each) { return each.law == law && each.form == form; });
  return found == std::end(texts) ? llvm::StringRef() : llvm::StringRef(found->text);
}
