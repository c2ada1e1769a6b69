//===- Consent.cpp - Approximate laws, by consent -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each approximate law makes one other function: the given one with every op changed that the law can change. It is selected
// for like the given one, by the exact laws. Without consent only its price is of interest.
//
//===----------------------------------------------------------------------===//
#include "SelectPlan.h"
#include "attune/Laws/ApproximateLaw.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

//===----------------------------------------------------------------------===//
// The other function
//===----------------------------------------------------------------------===//

namespace {
struct OtherFunction {
  bool spokenOf = false;              ///< the law has something to say of the function
  std::string refusal;                ///< of the first op that it speaks of, if it can change none
  OwningOpRef<func::FuncOp> function; ///< null if it can change none
};
} // namespace

static OtherFunction changedBy(const ApproximateLaw &law, func::FuncOp function) {
  OtherFunction other;
  OwningOpRef<func::FuncOp> copy = function.clone();
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(copy->getOps())) {
    if (!law.appliesTo(&op))
      continue;
    std::string refusal = law.refusal(&op);
    if (!other.spokenOf)
      other.refusal = refusal;
    other.spokenOf = true;
    if (!refusal.empty())
      continue;
    OpBuilder builder(&op);
    op.replaceAllUsesWith(law.build(builder, &op));
    op.erase();
    changed = true;
  }
  if (changed)
    other.function = std::move(copy), other.refusal.clear();
  return other;
}

/// Selects for another function; what would be an error of the given one is a reason not to take this one.
static FailureOr<FunctionPlans> tryPlans(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                         const SelectOptions &options, std::string &refusal) {
  ScopedDiagnosticHandler quiet(function.getContext(), [&](Diagnostic &diagnostic) {
    if (refusal.empty())
      refusal = diagnostic.str();
    return success();
  });
  return selectPlans(function, laws, options);
}

//===----------------------------------------------------------------------===//
// Consent
//===----------------------------------------------------------------------===//

static bool isAllowed(func::FuncOp function, const SelectOptions &options, StringRef law) {
  if (llvm::is_contained(options.allowed, law))
    return true;
  auto list = function->getAttrOfType<ArrayAttr>("attn.allow");
  return list && llvm::any_of(list, [&](Attribute each) {
           auto name = dyn_cast<StringAttr>(each);
           return name && name.getValue() == law;
         });
}

FailureOr<FunctionPlans> graph::selectWithConsent(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                                  const SelectOptions &options) {
  FailureOr<FunctionPlans> best = selectPlans(function, laws, options);
  if (failed(best) || best->committed.empty())
    return best;
  double exactSeconds = best->selection.seconds;
  std::vector<ConsentOffer> offers;
  std::optional<size_t> taken;
  for (const std::unique_ptr<ApproximateLaw> &law : createApproximateLaws()) {
    // A place counts plans of the function as it is given.
    bool allowed = options.place == 0 && isAllowed(function, options, law->name());
    if (!allowed && !options.offers)
      continue;
    OtherFunction other = changedBy(*law, function);
    if (!other.spokenOf)
      continue;
    ConsentOffer offer{law->name().str(), law->change().str(), other.refusal, allowed, false, "", 0};
    if (other.function) {
      FailureOr<FunctionPlans> plans = tryPlans(*other.function, laws, options, offer.refusal);
      if (succeeded(plans)) {
        offer.refusal.clear();
        offer.forms = plans->selection.takenForms, offer.seconds = plans->selection.seconds;
        if (allowed && offer.seconds < best->selection.seconds)
          best = std::move(plans), taken = offers.size();
      }
    }
    offers.push_back(std::move(offer));
  }
  if (taken)
    offers[*taken].taken = true;
  best->selection.consent = std::move(offers);
  best->selection.exactSeconds = exactSeconds;
  return best;
}
