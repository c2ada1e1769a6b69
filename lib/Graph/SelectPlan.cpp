//===- SelectPlan.cpp - The plans of one function -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Selector.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// A library holds at most three plans (D5).
static constexpr unsigned mostPlans = 3;

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

static std::string feasibleForms(const EqualForms &group) {
  SmallVector<std::string> forms;
  for (const Alternative &alternative : group.alternatives)
    if (alternative.feasible())
      forms.push_back(alternative.form.str());
  return llvm::join(forms, ", ");
}

LogicalResult Selector::checkPins() {
  for (const EqualForms &group : memo.groups())
    for (const Alternative &alternative : group.alternatives) {
      const Pin *pin = pinOf(*alternative.law);
      if (!pin || pin->form != alternative.form || alternative.feasible())
        continue;
      auto error = emitError(group.op->getLoc()) << "expected a form that this attention can take, but got the pin "
                                                 << pin->law << ": " << pin->form << "; " << alternative.refusal;
      error.attachNote() << "pin one of " << feasibleForms(group) << ", or leave the choice to the cost model";
      return failure();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Feasible alternatives; pinned ones come first, so that a bound cannot cut them off.
SmallVector<unsigned> Selector::formsToTry(const EqualForms &group) const {
  SmallVector<unsigned> forms;
  for (bool pinned : {true, false})
    for (auto [index, alternative] : llvm::enumerate(group.alternatives))
      if (alternative.feasible() && agrees(alternative) == pinned)
        forms.push_back(index);
  return forms;
}

LogicalResult Selector::makeCandidates() {
  SmallVector<SmallVector<unsigned>> forms =
      llvm::map_to_vector(memo.groups(), [&](const EqualForms &group) { return formsToTry(group); });
  Enumeration plans = enumeratePlans(forms, options.planBound);
  complete = plans.complete;
  for (SmallVector<unsigned> &choice : plans.plans) {
    OwningOpRef<func::FuncOp> plan = memo.realize(choice);
    llvm::Expected<PricedPlan> priced = metric.partition(*plan);
    if (!priced) {
      misfit = llvm::toString(priced.takeError());
      continue;
    }
    bool allowed = true;
    for (auto [group, index] : llvm::zip_equal(memo.groups(), choice))
      allowed &= agrees(group.alternatives[index]);
    if (!priced->attentions.empty())
      candidates.push_back({std::move(choice), std::move(plan), std::move(*priced), allowed});
  }
  bool unread = candidates.empty() && misfit.empty();
  if (unread || llvm::any_of(candidates, [](const Candidate &candidate) { return candidate.allowed; }))
    return success();
  auto error = emitError(function.getLoc()) << "expected a plan that " << options.device.name
                                            << " can run, but found none" << (misfit.empty() ? "" : ": ") << misfit;
  if (!options.pins.empty() && !candidates.empty())
    error.attachNote() << "without the pins there is one";
  return failure();
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

void Selector::solve() {
  SmallVector<unsigned> allowed;
  for (auto [index, candidate] : llvm::enumerate(candidates))
    if (candidate.allowed)
      allowed.push_back(index);
  if (lengths->unknown()) {
    auto price = [&](unsigned plan, int64_t length) { return seconds(allowed[plan], length); };
    segments = solveThresholds(allowed.size(), price, lengths->longest(), mostPlans);
    for (Segment &segment : segments)
      segment.plan = allowed[segment.plan];
    return;
  }
  int64_t length = lengths->reference();
  // The first of equally cheap plans.
  unsigned best =
      *llvm::min_element(allowed, [&](unsigned a, unsigned b) { return seconds(a, length) < seconds(b, length); });
  segments = {{best, 0}};
}

FailureOr<FunctionPlans> Selector::run() {
  if (failed(checkPins()) || failed(makeCandidates()))
    return failure();
  if (candidates.empty()) // nothing reads the attention
    return FunctionPlans();
  lengths.emplace(candidates.front().priced.attentions.front());
  solve();
  FunctionPlans result;
  describe(result.selection);
  for (const Segment &segment : segments) {
    Candidate &candidate = candidates[segment.plan];
    result.committed.push_back({std::move(candidate.function), candidate.priced.attentions.back().form, segment.from,
                                candidate.priced.schedule});
  }
  return result;
}

FailureOr<FunctionPlans> graph::selectPlans(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                            const SelectOptions &options) {
  return Selector(function, laws, options).run();
}
