//===- Fold.cpp - Projections folded with random features -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   apart    q = x W + b, then q ωᵀ in the kernel that maps it     D d + d m multiply-adds a token and head
//   folded   x P + c, P = W ωᵀ [D, m], c = b ωᵀ                    D m
//
// P and c are of parameters alone: `prepare` makes them. Exact where tokens are read through ωᵀ only. Keys that every query
// head maps its own way (per_head, G < H) have a P for each of the H heads.
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Folded.h"
#include "attune/Laws/RewriteLaw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

static bool hasOmega(KernelOp op) { return op.getFeatureMap().getFeatureCount() > 0; }

/// Whether attention with random features reads these tokens as queries or keys, perhaps after other ops.
static bool meetsOmega(Value tokens) {
  return llvm::any_of(tokens.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto kernel = dyn_cast<KernelOp>(user))
      return hasOmega(kernel) && (use.get() == kernel.getQuery() || use.get() == kernel.getKey());
    bool between = isa<RopeOp, QkNormOp, TakeHeadsOp, CompressOp>(user);
    return between && meetsOmega(user->getResult(0));
  });
}

/// What stands between the projection and ω; empty if the one reader is kernel attention.
static std::string obstacle(ProjectOp op) {
  if (!op.getResult().hasOneUse())
    return "not only the random features read these tokens";
  Operation *reader = *op.getResult().getUsers().begin();
  if (isa<RopeOp>(reader))
    return "rope turns the tokens before they meet omega";
  if (isa<QkNormOp>(reader))
    return "qk_norm scales the tokens before they meet omega";
  if (isa<TakeHeadsOp>(reader))
    return "the parts read different heads of these tokens";
  if (isa<CompressOp>(reader))
    return "low_rank compresses the tokens before they meet omega";
  return "";
}

/// Whether the library is given the value when it is prepared, not when it runs.
static bool isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), "attn.parameter");
}

static std::string kernelRefusal(KernelOp kernel, bool keys) {
  if (kernel.getCompressKey())
    return "the features are compressed along the sequence";
  if (kernel.getInitialState() || kernel.getFinalState())
    return "others read the state of these features";
  bool cancels = kernel.getFeatureMap().stabilizerCancels(kernel.getDenominator());
  return whyNotThroughOmega(kernel.getFeatureMap(), keys, cancels).str();
}

static constexpr graph::LawForm forms[] = {
    {"apart", "tokens are projected, then multiplied by the random features"},
    {"folded", "weight and random features are multiplied by `prepare`, so that tokens meet one matrix"},
};

static constexpr ListedLaw identities[] = {
    {"I5", "fold", "(x W + β) M = x (W M) + β M, M = ωᵀ",
     "no rope, qk_norm or E between; tokens are read through ω alone (never keys of favor); parameters of prepare",
     "Rethinking Attention with Performers (arXiv 2009.14794)", LawPlace::Choice,
     "apart: D d + d m a token; folded: D m, which wins for m < d D / (D - d): few features, narrow models"},
};

static constexpr graph::LawRow lawRow = {"fold", "a projection whose tokens meet random features",
                                         "there is nothing to fold a weight with", forms, identities};

namespace {
struct FoldLaw : graph::RewriteLaw {
  FoldLaw() : RewriteLaw(lawRow) {}
  bool appliesTo(Operation *op) const override {
    auto project = dyn_cast<ProjectOp>(op);
    return project && meetsOmega(project.getResult());
  }

  std::string refusal(Operation *operation, StringRef form) const override {
    if (form == "apart")
      return "";
    auto op = cast<ProjectOp>(operation);
    if (std::string reason = obstacle(op); !reason.empty())
      return reason;
    OpOperand &use = *op.getResult().getUses().begin();
    auto kernel = cast<KernelOp>(use.getOwner());
    if (std::string reason = kernelRefusal(kernel, use.get() == kernel.getKey()); !reason.empty())
      return reason;
    for (Value weight : {op.getWeight(), op.getBias(), kernel.getParameter()})
      if (weight && !isParameter(weight))
        return "the weights are given to every run, not to prepare";
    if (!cast<RankedTensorType>(op.getWeight().getType()).hasStaticShape())
      return "the sizes of the weight are known only to a run";
    return "";
  }

  SmallVector<Value> build(OpBuilder &builder, Operation *operation, StringRef form) const override {
    auto copy = cast<ProjectOp>(builder.clone(*operation));
    if (form == "folded")
      decide(copy, [](Execution &execution) { execution.form = TermForm::Folded; });
    return {copy.getResult()};
  }
};
} // namespace

std::unique_ptr<graph::RewriteLaw> graph::createFoldLaw() { return std::make_unique<FoldLaw>(); }
