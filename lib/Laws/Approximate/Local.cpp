//===- Local.cpp - Softmax attention inside blocks of tokens --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A query sees the keys of its own block of w = 256 tokens, causal ones no later key: n w (d + dv) multiply-adds in place of
// n N (d + dv). ELFATT's block-wise half, for sequences.
//
//===----------------------------------------------------------------------===//
#include "SoftmaxRefusals.h"
#include "attune/Laws/ApproximateLaw.h"

using namespace mlir;
using namespace attune;

/// Tokens of a block: some times a tile, so that tiles are full, and of the papers' sizes for text (128 … 512).
static constexpr int64_t blockLength = 256;

static constexpr ListedLaw lawRow = {"A2",
                                     "local",
                                     "softmax over all keys → softmax over the keys of the query's block of 256",
                                     "n = N, a multiple of 256 and known; no window, low rank or lse",
                                     "the local half of ELFATT (arXiv 2501.06098), for sequences",
                                     LawPlace::Consent,
                                     "256 n (d + dv) multiply-adds in place of n N (d + dv)",
                                     false};

namespace {
struct LocalLaw : graph::ApproximateLaw {
  LocalLaw() : ApproximateLaw(lawRow) {}
  StringRef change() const override { return "softmax inside blocks of 256 tokens"; }
  bool appliesTo(Operation *op) const override { return isa<attn::SoftmaxOp>(op); }

  std::string refusal(Operation *operation) const override {
    auto op = cast<attn::SoftmaxOp>(operation);
    int64_t queries = op.getQuery().getType().getDimSize(2), keys = op.getKey().getType().getDimSize(2);
    if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys))
      return "whether blocks of 256 fill the sequence is known only to a run";
    if (queries != keys)
      return "blocks need as many queries as keys";
    if (queries % blockLength != 0)
      return "blocks of 256 do not fill " + std::to_string(queries) + " tokens";
    return graph::softmaxRefusal(op);
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation) const override {
    auto copy = cast<attn::SoftmaxOp>(builder.clone(*operation));
    copy.setWindowAttr(attn::WindowAttr::get(builder.getContext(), blockLength));
    return {copy.getOutput()};
  }
};
} // namespace

std::unique_ptr<graph::ApproximateLaw> graph::createLocalLaw() { return std::make_unique<LocalLaw>(); }
