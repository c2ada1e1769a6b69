//===- SelectionRecord.cpp - What was decided, and why --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Selector.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

std::optional<unsigned> Selector::cheapestWith(unsigned group, unsigned alternative, int64_t length) {
  std::optional<unsigned> best;
  for (auto [index, candidate] : llvm::enumerate(candidates))
    if (candidate.choice[group] == alternative && (!best || seconds(index, length) < seconds(*best, length)))
      best = index;
  return best;
}

Decision Selector::describe(unsigned group, unsigned index) {
  const EqualForms &forms = memo.groups()[group];
  const Alternative &alternative = forms.alternatives[index];
  const Pin *pin = pinOf(*alternative.law);
  Decision decision{
      alternative.law->name().str(), alternative.form.str(), {}, true, {}, 0, {}, {}, {}, {}, forms.op->getLoc()};
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
    reason +=
        llvm::formatv("; cheaper {0} L = {1}", decision.cheaper->below ? "below" : "from", decision.cheaper->length);
  return reason;
}

std::optional<ExactComparison> Selector::compareWithSoftmax() {
  PricedPlan softmax = candidates[chosenAt(lengths->reference())].priced;
  if (softmax.attentions.size() != 1 || softmax.attentions.front().form == attn::Form::Online)
    return std::nullopt;
  cost::AttentionShape &shape = softmax.attentions.front();
  shape.family = cost::Family::Softmax, shape.form = attn::Form::Online;
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
  PlanPrice price = metric.price(candidates[chosenAt(selection.length)].priced, lengths->sizesAt(selection.length));
  selection.seconds = price.seconds, selection.work = price.work;
  selection.complete = complete;
  for (auto [group, forms] : llvm::enumerate(memo.groups()))
    for (unsigned index = 0; index < forms.alternatives.size(); ++index)
      selection.decisions.push_back(describe(group, index));
  selection.exact = compareWithSoftmax();
}
