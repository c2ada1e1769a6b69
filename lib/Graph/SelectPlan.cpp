//===- SelectPlan.cpp - The plans of one function -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memo: every form beside the op it equals.  Enumerate: whole plans within a bound.  Metric: a plan's kernels and price.
// Select: the cheapest, or the lower envelope over the length where that is unknown.
//
//===----------------------------------------------------------------------===//
#include "SelectPlan.h"
#include "LengthModel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// A library holds at most three plans (D5).
static constexpr unsigned mostPlans = 3;

namespace {
/// A whole plan that the device can run.
struct Candidate {
  SmallVector<unsigned> choice;
  OwningOpRef<func::FuncOp> function;
  PricedPlan priced;
  bool allowed; ///< agrees with the pins
};

class Selector {
public:
  Selector(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws, const SelectOptions &options)
      : function(function), options(options), memo(function, laws), metric(options.device) {}

  FailureOr<FunctionPlans> run() {
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

private:
  LogicalResult checkPins();
  LogicalResult makeCandidates();
  void solve();
  void describe(FunctionSelection &selection);
  Decision describe(unsigned group, unsigned alternative);
  std::string reasonOf(const Decision &decision);
  std::string whereCheapest(int64_t from) const;
  std::optional<ExactComparison> compareWithSoftmax();

  const Pin *pinOf(const RewriteLaw &law) const {
    auto place = llvm::find_if(options.pins, [&](const Pin &pin) { return pin.law == law.name(); });
    return place == options.pins.end() ? nullptr : &*place;
  }
  bool agrees(const Alternative &alternative) const {
    const Pin *pin = pinOf(*alternative.law);
    return !pin || pin->form == alternative.form;
  }
  SmallVector<unsigned> formsToTry(const EqualForms &group) const;
  double seconds(unsigned candidate, int64_t length) {
    return metric.price(candidates[candidate].priced, lengths->sizesAt(length)).seconds;
  }
  /// The candidate that runs at a length.
  unsigned chosenAt(int64_t length) const {
    const Segment *last = segments.begin();
    for (const Segment &segment : segments)
      last = segment.from <= length ? &segment : last;
    return last->plan;
  }
  std::optional<unsigned> cheapestWith(unsigned group, unsigned alternative, int64_t length);

  func::FuncOp function;
  const SelectOptions &options;
  Memo memo;
  Metric metric;
  std::optional<LengthModel> lengths;
  std::vector<Candidate> candidates;
  SmallVector<Segment, 3> segments;
  std::string misfit; ///< why the device cannot run some plan
  bool complete = true;
};
} // namespace

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
      auto error = group.op->emitError() << "expected a form that this attention can take, but got the pin " << pin->law
                                         << ": " << pin->form << "; " << alternative.refusal;
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
  auto error = function.emitError() << "expected a plan that " << options.device.name << " can run, but found none"
                                    << (misfit.empty() ? "" : ": ") << misfit;
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
  unsigned best = *llvm::min_element(allowed, [&](unsigned a, unsigned b) { return seconds(a, length) < seconds(b, length); });
  segments = {{best, 0}};
}

std::optional<unsigned> Selector::cheapestWith(unsigned group, unsigned alternative, int64_t length) {
  std::optional<unsigned> best;
  for (auto [index, candidate] : llvm::enumerate(candidates))
    if (candidate.choice[group] == alternative && (!best || seconds(index, length) < seconds(*best, length)))
      best = index;
  return best;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

Decision Selector::describe(unsigned group, unsigned index) {
  const EqualForms &forms = memo.groups()[group];
  const Alternative &alternative = forms.alternatives[index];
  const Pin *pin = pinOf(*alternative.law);
  Decision decision{alternative.law->name().str(), alternative.form.str(), {}, true, {}, 0, {}, {}, {}, {},
                    forms.op->getLoc()};
  decision.pinned = pin && pin->form == alternative.form;
  int64_t length = lengths->reference();
  std::optional<unsigned> best = cheapestWith(group, index, length);
  decision.feasible = alternative.feasible() && best;
  if (!decision.feasible) {
    decision.reason = alternative.feasible() ? misfit : alternative.refusal;
    return decision;
  }
  PlanPrice price = metric.price(candidates[*best].priced, lengths->sizesAt(length));
  decision.seconds = price.seconds, decision.work = price.work;
  for (const Segment &segment : segments)
    if (candidates[segment.plan].choice[group] == index && !decision.taken) {
      decision.taken = true;
      if (lengths->unknown())
        decision.from = segment.from;
    }
  unsigned chosen = chosenAt(length);
  if (!decision.taken && decision.seconds >= seconds(chosen, length))
    decision.cheaper = findCrossover(
        chosen, *best, [&](unsigned plan, int64_t at) { return seconds(plan, at); }, length, lengths->longest());
  decision.reason = reasonOf(decision);
  return decision;
}

std::string Selector::whereCheapest(int64_t from) const {
  const Segment *next = llvm::find_if(segments, [&](const Segment &segment) { return segment.from > from; });
  if (next == segments.end())
    return from == 0 ? "the cheapest at all lengths" : llvm::formatv("the cheapest from L = {0}", from).str();
  if (from == 0)
    return llvm::formatv("the cheapest below L = {0}", next->from);
  return llvm::formatv("the cheapest from L = {0} to {1}", from, next->from - 1);
}

std::string Selector::reasonOf(const Decision &decision) {
  int64_t length = lengths->reference();
  double chosen = seconds(chosenAt(length), length);
  if (decision.taken && decision.pinned) {
    double least = chosen;
    for (unsigned index = 0; index < candidates.size(); ++index)
      least = std::min(least, seconds(index, length));
    if (least < chosen)
      return llvm::formatv("pinned; {0:f1} times the price of the cheapest", chosen / least);
    return "pinned; the cheapest anyway";
  }
  if (decision.taken && !decision.from)
    return "the cheapest";
  if (decision.taken)
    return whereCheapest(*decision.from);
  double ratio = decision.seconds / chosen;
  std::string reason = ratio < 1 ? "another form is pinned" : llvm::formatv("{0:f1} times the price", ratio).str();
  if (decision.cheaper)
    reason += llvm::formatv("; cheaper {0} L = {1}", decision.cheaper->below ? "below" : "from",
                            decision.cheaper->length);
  return reason;
}

std::optional<ExactComparison> Selector::compareWithSoftmax() {
  PricedPlan softmax = candidates[chosenAt(lengths->reference())].priced;
  if (softmax.attentions.size() != 1 || softmax.attentions.front().form == attn::Form::Online)
    return std::nullopt;
  cost::AttentionShape &shape = softmax.attentions.front();
  shape.form = attn::Form::Online;
  shape.initialState = shape.finalState = false;
  ExactComparison comparison;
  auto price = [&](unsigned plan, int64_t length) {
    return plan == 0 ? seconds(chosenAt(lengths->unknown() ? length : lengths->reference()), length)
                     : metric.price(softmax, lengths->sizesAt(length)).seconds;
  };
  int64_t length = lengths->reference();
  comparison.seconds = price(1, length);
  if (comparison.seconds >= price(0, length))
    comparison.cheaper = findCrossover(0, 1, price, length, lengths->longest());
  return comparison;
}

void Selector::describe(FunctionSelection &selection) {
  selection.function = function.getName().str();
  selection.device = options.device.name;
  selection.unknownLengths = lengths->unknown();
  selection.length = lengths->reference();
  selection.batch = lengths->batch();
  selection.seconds = seconds(chosenAt(selection.length), selection.length);
  selection.complete = complete;
  for (auto [group, forms] : llvm::enumerate(memo.groups()))
    for (unsigned index = 0; index < forms.alternatives.size(); ++index)
      selection.decisions.push_back(describe(group, index));
  selection.exact = compareWithSoftmax();
}

FailureOr<FunctionPlans> graph::selectPlans(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                            const SelectOptions &options) {
  return Selector(function, laws, options).run();
}
