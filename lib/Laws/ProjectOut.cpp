//===- ProjectOut.cpp - The output projection alone or as an epilogue ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   materialized   a kernel reads the heads o [batch, heads, tokens, dv], which are stored: y = Σ_h o_h W_O[h]
//   epilogue       the kernel of the heads has all of them of a query block one after another, and adds o_h W_O[h] up
//
// The second spares a launch and the workspace of o; in return heads are not programs.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Execution.h"
#include "attune/Laws/RewriteLaw.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

/// Why the kernels of an op cannot project the heads that they compute; empty if they can.
static std::string headsRefusal(Operation *op) {
  if (!op)
    return "the heads are an argument, which no kernel computes";
  if (!op->getResult(0).hasOneUse())
    return "the heads are read by others too, so that they are stored anyway";
  if (llvm::any_of(op->getResults().drop_front(), [](Value result) { return !result.use_empty(); }))
    return "the kernel of " + op->getName().stripDialect().str() + " has other results, which are stored head by head";
  if (auto lepe = dyn_cast<LepeOp>(op))
    return headsRefusal(lepe.getSource().getDefiningOp());
  if (isa<ConcatHeadsOp>(op))
    return "the parts of a mixture have kernels of their own, and no kernel has all heads of a token";
  if (isa<EvaOp, PolysketchOp>(op))
    return "the kernels of " + op->getName().stripDialect().str() + " hold one head at a time";
  return "";
}

static constexpr graph::LawForm forms[] = {
    {"materialized", "a kernel of its own reads the stored heads and multiplies them by wo"},
    {"epilogue", "the kernel that computes the heads multiplies each by wo at once; none is stored"},
};

static constexpr ListedLaw identities[] = {
    {"S2", "project_out",
     "y = Σ_h o_h W_O[h] of stored heads = the same sum where a block's heads are computed, one after another",
     "one attention has all heads, and its kernels a block of queries at a time: softmax, powers, effatt, agent, "
     "kernel attention "
     "in quadratic form or from a stored state; nobody else reads the heads; on a CPU",
     "FlashAttention (arXiv 2205.14135), of what is cheaper to keep than to store", LawPlace::Choice,
     "materialized: a launch, n H dv numbers stored and read; epilogue: none of the two, and no heads in parallel, "
     "which "
     "wins for blocks enough for every core, and loses for one block of queries, or where n D sums leave the core's "
     "cache between heads"},
};

static constexpr graph::LawRow lawRow = {"project_out", "an output projection", "the heads are the output as they are",
                                         forms, identities};

namespace {
struct ProjectOutLaw : graph::RewriteLaw {
  ProjectOutLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override { return isa<ProjectOutputOp>(op); }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "materialized")
      return "";
    auto op = cast<ProjectOutputOp>(operation);
    if (ShapedType::isDynamic(op.getResult().getType().getDimSize(2)))
      return "the width of the output is known only to a run";
    return headsRefusal(op.getSource().getDefiningOp());
  }

  bool marks() const override { return true; }
  void mark(Operation *operation, StringRef form) const override {
    if (form == "epilogue")
      decide(operation, [](Execution &execution) { execution.values = Values::Fused; });
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createProjectOutLaw() { return std::make_unique<ProjectOutLaw>(); }
