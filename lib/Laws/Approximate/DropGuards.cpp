//===- DropGuards.cpp - FAVOR without its guards --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// φ = m^{-1/2} (e^{L − c} + ε) with ε = 0, over a denominator without bias and floor: c cancels (I22), no pass over keys
// looks for it, and queries and keys of any length keep their weights.
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/ApproximateLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static constexpr ListedLaw lawRow = {"A4",
                                     "drop_guards",
                                     "FAVOR with epsilon, bias and floor → with none of them, so that I12 holds",
                                     "a stabilizer; no state in or out; no naive low rank",
                                     "Rethinking Attention with Performers (arXiv 2009.14794)",
                                     LawPlace::Consent,
                                     "no pass over the keys for a maximum",
                                     false};

namespace {
struct DropGuardsLaw : graph::ApproximateLaw {
  DropGuardsLaw() : ApproximateLaw(lawRow) {}
  StringRef change() const override { return "FAVOR with epsilon 0 and a denominator without bias and floor"; }
  bool appliesTo(Operation *op) const override {
    auto kernel = dyn_cast<KernelOp>(op);
    return kernel && kernel.getFeatureMap().isFavor();
  }

  std::string refusal(Operation *operation) const override {
    auto op = cast<KernelOp>(operation);
    if (op.getCompressKey())
      return "naive low rank has no denominator";
    if (op.getInitialState() || op.getFinalState())
      return "the state that goes in or out is of the guarded features";
    if (op.getFeatureMap().getStabilizer() == Stabilizer::None)
      return "it has no stabilizer to get rid of";
    if (op.getDenominator().getNone())
      return "nothing divides, so there is no guard";
    if (op.getFeatureMap().stabilizerCancels(op.getDenominator()))
      return "its epsilon, bias and floor are 0 already";
    return "";
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation) const override {
    auto copy = cast<KernelOp>(builder.clone(*operation));
    FeatureMapAttr map = copy.getFeatureMap();
    copy.setFeatureMapAttr(FeatureMapAttr::get(builder.getContext(), map.getKind(), map.getFeatureCount(), 0,
                                               map.getScale(), map.getPower(), map.getMaxPosition(),
                                               map.getStabilizer()));
    copy.setDenominatorAttr(DenominatorAttr::get(builder.getContext(), 0, 0));
    return {copy.getOutput()};
  }
};
} // namespace

std::unique_ptr<graph::ApproximateLaw> graph::createDropGuardsLaw() { return std::make_unique<DropGuardsLaw>(); }
