//===- Agents.cpp - Softmax attention by way of agents --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   softmax(s Q Kᵀ) V   becomes   softmax(s Q Aᵀ) softmax(s A Kᵀ) V,   A = means of a equal runs of queries
//
// ("Agent Attention", without biases and convolution), (n + N) a (d + dv) multiply-adds.
//
//===----------------------------------------------------------------------===//
#include "SoftmaxRefusals.h"
#include "attune/Laws/ApproximateLaw.h"

using namespace mlir;
using namespace attune;

/// The largest number of agents up to 64 that divides the queries into equal runs of two at least; 0 if there is none
/// that is worth the name.
static int64_t agentsFor(int64_t queries) {
  for (int64_t agents = 64; agents >= 16; --agents)
    if (queries % agents == 0 && queries / agents >= 2)
      return agents;
  return 0;
}

static constexpr ListedLaw lawRow = {
    "A3",
    "agents",
    "softmax(s Q Kᵀ) V → softmax(s Q Aᵀ) softmax(s A Kᵀ) V, A the means of a runs of queries",
    "not causal; some a from 16 to 64 divides n, which is known; no window, low rank or lse",
    "Agent Attention (arXiv 2312.08874)",
    LawPlace::Consent,
    "(n + N) a (d + dv) multiply-adds in place of n N (d + dv)",
    false};

namespace {
struct AgentsLaw : graph::ApproximateLaw {
  AgentsLaw() : ApproximateLaw(lawRow) {}
  StringRef change() const override { return "softmax by way of 16 to 64 agents, means of runs of queries"; }
  bool appliesTo(Operation *op) const override { return isa<attn::SoftmaxOp>(op); }

  std::string refusal(Operation *operation) const override {
    auto op = cast<attn::SoftmaxOp>(operation);
    int64_t queries = op.getQuery().getType().getDimSize(2);
    if (op.getCausal())
      return "an agent mixes queries of all places, and this attention is causal";
    if (ShapedType::isDynamic(queries))
      return "into how many equal runs the queries fall is known only to a run";
    if (agentsFor(queries) == 0)
      return "no number of agents from 16 to 64 divides " + std::to_string(queries) + " queries";
    return graph::softmaxRefusal(op);
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation) const override {
    auto op = cast<attn::SoftmaxOp>(operation);
    int64_t agents = agentsFor(op.getQuery().getType().getDimSize(2));
    auto made =
        attn::AgentOp::create(builder, op.getLoc(), op.getOutput().getType(), /*lse=*/Type(), op.getQuery(), op.getKey(), op.getValue(),
                              op.getLengths(), builder.getI64IntegerAttr(agents), op.getScaleAttr());
    return {made.getOutput()};
  }
};
} // namespace

std::unique_ptr<graph::ApproximateLaw> graph::createAgentsLaw() { return std::make_unique<AgentsLaw>(); }
