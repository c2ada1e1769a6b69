//===- Remarks.cpp - Decisions as remarks ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SelectPlan.h"
#include "attune/Graph/Explain.h"

#include "mlir/IR/Remarks.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// A form of a law: whether it was taken, why, and what the best plan with it takes.
static std::string textOf(const FunctionSelection &selection, const Decision &decision) {
  std::string law = decision.subject.empty() ? decision.law : decision.law + " of " + decision.subject;
  if (!decision.feasible)
    return llvm::formatv("{0}: cannot take the {1} form: {2}", law, decision.form, decision.reason);
  return llvm::formatv("{0}: {1} the {2} form: {3}; {4} at {5} = {6} on {7}", law,
                       decision.taken ? "took" : "did not take", decision.form, decision.reason,
                       printSeconds(decision.seconds), selection.lengthName, selection.length, selection.device);
}

/// The plan, its price, and what it waits for.
static std::string summaryOf(const FunctionSelection &selection) {
  std::string forms = selection.takenForms.empty() ? "the only form" : selection.takenForms;
  std::string text = llvm::formatv("{0} predicted at {1} = {2}, batch {3}, on {4}, by {5}",
                                   printSeconds(selection.seconds), selection.lengthName, selection.length,
                                   selection.batch, selection.device, forms);
  for (const KernelShare &kernel : selection.kernels)
    text += llvm::formatv("; {0}{1}{2} {3}, waits for {4}", kernel.kernel, kernel.subject.empty() ? "" : " ",
                          kernel.subject, printSeconds(kernel.seconds), kernel.limit);
  return text;
}

/// What the plan gains over exact attention of the same sizes, and where that would change.
static std::string exactOf(const ExactComparison &exact, StringRef lengthName) {
  std::string text = llvm::formatv("exact softmax of these sizes would take {0}", printSeconds(exact.seconds));
  auto add = [&](const std::optional<Crossover> &place, StringRef what) {
    if (place)
      text += llvm::formatv(" and {0} {1} {2} = {3}", what, place->below ? "below" : "from", lengthName,
                            place->length);
  };
  add(exact.cheaper, "is faster");
  add(exact.dearer, "is slower");
  return text;
}

/// Another function that `allow` can take: what it costs, compared with this one.
static std::string textOf(const ConsentOffer &offer, const FunctionSelection &selection) {
  if (!offer.refusal.empty())
    return llvm::formatv("{0}: cannot change the function: {1}", offer.law, offer.refusal);
  return llvm::formatv("{0}: {1}, {2} in place of {3}: {4}", offer.law,
                       offer.taken     ? "allowed and taken"
                       : offer.allowed ? "allowed, and not cheaper"
                                       : "would need consent (allow)",
                       printSeconds(offer.seconds), printSeconds(selection.exactSeconds), offer.change);
}

void graph::emitRemarks(const FunctionSelection &selection, Location function) {
  auto named = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("attn-select-rewrites").function(selection.function);
  };
  remark::analysis(function, named("plan")) << StringRef(summaryOf(selection));
  if (selection.exact)
    remark::analysis(function, named("exact")) << StringRef(exactOf(*selection.exact, selection.lengthName));
  for (const RejectedPlan &plan : selection.rejected)
    remark::missed(function, named("plan"))
        << StringRef(llvm::formatv("{0} would take {1}", plan.forms, printSeconds(plan.seconds)).str());
  for (const Decision &decision : selection.decisions) {
    std::string text = textOf(selection, decision);
    if (decision.taken)
      remark::passed(decision.location, named(decision.law)) << StringRef(text);
    else
      remark::missed(decision.location, named(decision.law)) << StringRef(text);
  }
  for (const ConsentOffer &offer : selection.consent) {
    std::string text = textOf(offer, selection);
    if (offer.taken)
      remark::passed(function, named(offer.law)) << StringRef(text);
    else
      remark::missed(function, named(offer.law)) << StringRef(text);
  }
}
