//===- Efficient.cpp - Softmax attention as efficient attention -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   o_i = Σ_j softmax_j(s ⟨q_i, k_j⟩) v_j   becomes   o_i = softmax_f(q_i)ᵀ Σ_j softmax_j(k_·f) v_jᵀ
//
// ("Efficient Attention"; the global half of ELFATT), (n + N) d dv multiply-adds in place of n N (d + dv).
//
//===----------------------------------------------------------------------===//
#include "SoftmaxRefusals.h"
#include "attune/Laws/ApproximateLaw.h"

using namespace mlir;
using namespace attune;

static constexpr ListedLaw lawRow = {
    "A1",
    "efficient",
    "softmax_j(s ⟨q_i, k_j⟩) V → softmax_f(q_i)ᵀ softmax_j(K)ᵀ V",
    "not causal; no window, low rank or lse",
    "Efficient Attention (arXiv 1812.01243), the global half of ELFATT (arXiv 2501.06098)",
    LawPlace::Consent,
    "(n + N) d dv multiply-adds in place of n N (d + dv)",
    false};

namespace {
struct EfficientLaw : graph::ApproximateLaw {
  EfficientLaw() : ApproximateLaw(lawRow) {}
  StringRef change() const override { return "softmax of q's features and of k's sequence apart, without the scale"; }
  bool appliesTo(Operation *op) const override { return isa<attn::SoftmaxOp>(op); }

  std::string refusal(Operation *operation) const override {
    auto op = cast<attn::SoftmaxOp>(operation);
    if (op.getCausal())
      return "a softmax over all keys would let a causal query see later ones";
    return graph::softmaxRefusal(op);
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation) const override {
    auto op = cast<attn::SoftmaxOp>(operation);
    auto effatt = attn::EffattOp::create(builder, op.getLoc(), op.getOutput().getType(), /*left=*/TypeRange(), op.getQuery(), op.getKey(),
                                         op.getValue(), op.getLengths());
    return {effatt.getOutput()};
  }
};
} // namespace

std::unique_ptr<graph::ApproximateLaw> graph::createEfficientLaw() { return std::make_unique<EfficientLaw>(); }
