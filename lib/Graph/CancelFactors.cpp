//===- CancelFactors.cpp - Factors and shifts that cancel -----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Identity I12, where the normaliser has no guard:
//
//   (s t)^p / Σ (s t)^p = t^p / Σ t^p                     the scale of polynomials and of sketches
//   max(ω √s x, 0) / … = max(ω x, 0) / …                  that of positive features
//   softmax_j(⟨q_i, k_j + β⟩) = softmax_j(⟨q_i, k_j⟩)     the bias of keys: ⟨q_i, β⟩ is the same for every j, unless logits are capped
//
// Of effatt, softmax over the keys of each feature, β_f is such a shift as well. What FAVOR drops is in its kernels.
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/CanonicalLaws.h"

#include "attune/Attn/Attn.h"

#include "mlir/IR/Remarks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attune;
using namespace attune::attn;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static std::string guardRefusal(DenominatorAttr guard) {
  if (guard.getNone())
    return "nothing divides the weighted sums";
  return guard.cancelsFactors() ? "" : "the guard of the denominator does not scale with the weights";
}

static std::string featureRefusal(KernelOp op) {
  if (op.getCompressKey())
    return "nothing divides the compressed features";
  if (op.getInitialState() || op.getFinalState())
    return "others read the state of these features";
  if (op.getFeatureMap().getEpsilon() != 0)
    return "epsilon is added after the factor";
  return guardRefusal(op.getDenominator());
}

/// Whether a bias of the keys adds the same to all that a softmax compares.
static bool shiftsOneSoftmax(OpOperand &use) {
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<SoftmaxOp, AgentOp, EffattOp>([&](auto op) {
        return use.get() == op.getKey() && use.get() != op.getQuery() && use.get() != op.getValue();
      })
      .Default(false);
}

/// Why the bias of these tokens stays; empty if every reader cancels it.
static std::string biasRefusal(Value tokens) {
  for (OpOperand &use : tokens.getUses()) {
    Operation *reader = use.getOwner();
    std::string reason;
    if (isa<TakeHeadsOp>(reader))
      reason = biasRefusal(reader->getResult(0));
    else if (isa<RopeOp>(reader))
      reason = "rope turns the bias by the place of each key";
    else if (isa<QkNormOp>(reader))
      reason = "qk_norm divides the bias by the norm of each key";
    else if (isa<CompressOp>(reader))
      reason = "low_rank weighs the bias in each compressed token by another sum";
    else if (auto softmax = dyn_cast<SoftmaxOp>(reader); softmax && softmax.getLse())
      reason = "the logarithm of the sum shows the shift";
    else if (softmax && softmax.getSoftcap())
      reason = "softcap bends logits, of which a shift makes others";
    else if (!shiftsOneSoftmax(use))
      reason = "others than the keys of a softmax read these tokens";
    if (!reason.empty())
      return reason;
  }
  return "";
}

/// Whether the library is given the value when it is prepared.
static bool isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), "attn.parameter");
}

/// Whether a softmax compares keys that come from these tokens, perhaps after other ops: then the law speaks of them.
static bool becomeKeys(Value tokens) {
  return llvm::any_of(tokens.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<TakeHeadsOp, RopeOp, QkNormOp, CompressOp>(user) && use.getOperandNumber() == 0)
      return becomeKeys(user->getResult(0));
    return shiftsOneSoftmax(use);
  });
}

//===----------------------------------------------------------------------===//
// The law
//===----------------------------------------------------------------------===//

namespace {
/// Drops one factor, or says why it stays.
class Canceller {
public:
  Canceller(func::FuncOp function, graph::Canonicalized &counts) : function(function), counts(counts) {}

  /// Of a scale that is 1 there is nothing to say.
  template <typename Op> void scaleOf(Op op) {
    if (op.getScale().convertToDouble() == 1)
      return;
    if (cancels(op, "the scale", guardRefusal(op.getDenominator())))
      op.setScale(llvm::APFloat(1.0));
  }
  void scaleOfFeatures(KernelOp op) {
    FeatureMapAttr map = op.getFeatureMap();
    if (map.getKind() != FeatureKind::FavorRelu || map.getScale() == 0)
      return;
    if (cancels(op, "the scale of the features", featureRefusal(op)))
      op.setFeatureMapAttr(FeatureMapAttr::get(op.getContext(), map.getKind(), map.getFeatureCount(), map.getEpsilon(),
                                               0, map.getPower(), map.getMaxPosition(), map.getStabilizer()));
  }
  void biasOf(ProjectOp op) {
    if (!op.getBias() || !becomeKeys(op.getResult()))
      return;
    std::string refusal = isParameter(op.getBias()) ? biasRefusal(op.getResult())
                                                    : "every run is given it, and a library reads what it is given";
    if (cancels(op, "the bias of the keys", refusal))
      op.getBiasMutable().clear();
  }

private:
  bool cancels(Operation *op, StringRef what, const std::string &refusal) {
    auto options = remark::RemarkOpts::name("cancel").category("attn-select-rewrites").function(function.getName());
    ++(refusal.empty() ? counts.cancelled : counts.kept);
    std::string text = (refusal.empty() ? "cancel: dropped " + what : "cancel: " + what + " stays: " + refusal).str();
    if (refusal.empty())
      remark::passed(op->getLoc(), options) << StringRef(text);
    else
      remark::missed(op->getLoc(), options) << StringRef(text);
    return refusal.empty();
  }

  func::FuncOp function;
  graph::Canonicalized &counts;
};
} // namespace

void graph::cancelFactors(func::FuncOp function, Canonicalized &counts) {
  Canceller canceller(function, counts);
  for (Operation &each : function.getOps())
    llvm::TypeSwitch<Operation *>(&each)
        .Case<PolynomialOp, PolysketchOp>([&](auto op) { canceller.scaleOf(op); })
        .Case([&](KernelOp op) { canceller.scaleOfFeatures(op); })
        .Case([&](ProjectOp op) { canceller.biasOf(op); });
}
