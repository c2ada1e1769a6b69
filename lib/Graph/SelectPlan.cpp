//===- SelectPlan.cpp - The plans of one function -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LimitNote.h"
#include "Selector.h"
#include "attune/Support/DebugOutput.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::graph;

#define DEBUG_TYPE "attn-select-rewrites"

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

/// The alternative that a pin asks for; null if the law of the pin does not speak of the op.
static const Alternative *pinned(const EqualForms &group, const Pin &pin) {
  const Alternative *place = llvm::find_if(group.alternatives, [&](const Alternative &alternative) {
    return alternative.law->name() == pin.law && alternative.form == pin.form;
  });
  return place == group.alternatives.end() ? nullptr : place;
}

static bool takes(const EqualForms &group, const Pin &pin) {
  const Alternative *wanted = pinned(group, pin);
  return wanted && wanted->feasible();
}

LogicalResult Selector::checkPin(const Pin &pin) {
  const EqualForms *refusing = llvm::find_if(memo.groups(), [&](const auto &group) { return pinned(group, pin); });
  if (refusing == memo.groups().end() || llvm::any_of(memo.groups(), [&](const auto &group) { return takes(group, pin); }))
    return success();
  auto error = emitError(refusing->op->getLoc())
               << "expected a form that this attention can take, but got the pin " << pin.law << ": " << pin.form
               << "; " << pinned(*refusing, pin)->refusal;
  error.attachNote() << "pin one of " << feasibleForms(*refusing) << ", or leave the choice to the cost model";
  return failure();
}

bool Selector::agrees(const EqualForms &group, const Alternative &alternative) const {
  const Pin *pin = pinOf(*alternative.law);
  if (!pin || pin->form == alternative.form)
    return true;
  return !takes(group, *pin);
}

bool Selector::binds(const Pin &pin, const Candidate &plan) const {
  for (auto [index, group] : llvm::enumerate(memo.groups())) {
    const Alternative &taken = group.alternatives[plan.choice[index]];
    if (taken.law->name() == pin.law && taken.form == pin.form && plan.computed[index])
      return true;
  }
  return false;
}

bool Selector::misses(const Candidate &plan, unsigned group) const {
  const EqualForms &forms = memo.groups()[group];
  return !plan.computed[group] && llvm::any_of(options.pins, [&](const Pin &pin) {
    return takes(forms, pin) && !(forms.origin && binds(pin, plan));
  });
}

std::vector<Pin> Selector::unboundPins() const {
  std::vector<Pin> unbound;
  for (const Pin &pin : options.pins)
    if (llvm::none_of(segments, [&](const Segment &each) { return binds(pin, candidates[each.plan]); }))
      unbound.push_back(pin);
  return unbound;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Feasible alternatives; pinned ones come first, so that a bound cannot cut them off.
SmallVector<unsigned> Selector::formsToTry(const EqualForms &group) const {
  SmallVector<unsigned> forms;
  for (bool pinned : {true, false})
    for (auto [index, alternative] : llvm::enumerate(group.alternatives))
      if (alternative.feasible() && agrees(group, alternative) == pinned)
        forms.push_back(index);
  return forms;
}

/// "law: form" of every group, be it computed in the plan or not.
static std::string chosenForms(const Memo &memo, ArrayRef<unsigned> choice) {
  auto form = [](auto pair) {
    const Alternative &taken = std::get<0>(pair).alternatives[std::get<1>(pair)];
    return (taken.law->name() + ": " + taken.form).str();
  };
  return llvm::join(llvm::map_range(llvm::zip_equal(memo.groups(), choice), form), ", ");
}

void Selector::addCandidate(SmallVector<unsigned> choice, ArrayRef<SmallVector<unsigned>> forms, cost::Slices slices) {
  llvm::SmallBitVector computed;
  OwningOpRef<func::FuncOp> plan = memo.realize(choice, &computed);
  for (auto [group, tried] : llvm::enumerate(forms))
    if (!computed[group] && choice[group] != tried.front())
      return; // the same plan as with the first form
  llvm::Expected<PricedPlan> priced = metric.partition(*plan, slices);
  if (!priced) {
    misfits.push_back({std::move(choice), llvm::toString(priced.takeError())});
    ATTUNE_DEBUG() << "@" << function.getName() << ": no plan of " << chosenForms(memo, misfits.back().choice) << ": "
                   << misfits.back().reason;
  } else if (!priced->attentions.empty()) {
    candidates.push_back({std::move(choice), std::move(plan), std::move(*priced), std::move(computed)});
    ATTUNE_DEBUG() << "@" << function.getName() << ": plan " << candidates.size() - 1 << ": "
                   << chosenForms(memo, candidates.back().choice);
  }
}

void Selector::allowCandidates() {
  constexpr unsigned noGroup = ~0u;
  auto agreeing = [&](const Candidate &each) { return agreesBeside(each, noGroup); };
  computePinned = true;
  computePinned = llvm::any_of(candidates, agreeing);
  for (Candidate &candidate : candidates)
    candidate.allowed = agreeing(candidate);
}

LogicalResult Selector::refuse() {
  OwningOpRef<func::FuncOp> plan;
  if (!misfits.empty())
    plan = memo.realize(misfits.front().choice);
  std::optional<Limit> limit = plan ? limitOf(*plan, options.device) : std::nullopt;
  std::string reason = misfits.empty() ? "" : ": " + misfits.front().reason;
  auto error = emitError(limit ? limit->place : function.getLoc())
               << "expected a plan that " << options.device.name << " can run, but found none" << reason;
  if (limit)
    error.attachNote() << limit->remedy;
  if (!options.pins.empty() && !candidates.empty())
    error.attachNote() << "without the pins there is one";
  return failure();
}

bool Selector::onlyPairsFit() const {
  auto makesPairs = [](const cost::AttentionShape &shape) { return shape.family == cost::Family::Kernel && shape.form == attn::Form::Quadratic; };
  return options.pins.empty() && !misfits.empty() && llvm::all_of(candidates, [&](const Candidate &candidate) {
           return !candidate.allowed || llvm::any_of(candidate.priced.attentions, makesPairs);
         });
}

LogicalResult Selector::makeCandidates() {
  SmallVector<SmallVector<unsigned>> forms =
      llvm::map_to_vector(memo.groups(), [&](const EqualForms &group) { return formsToTry(group); });
  Enumeration plans = enumeratePlans(memo.groups(), forms, options.planBound);
  complete = plans.complete;
  // Slices of features and values take longer than whole rows, and are there for what whole rows do not fit: all plans, or all whose
  // cost does not grow with n N.
  for (cost::Slices slices : {cost::Slices::None, cost::Slices::Taken}) {
    if (slices == cost::Slices::Taken && options.device.kind == tile::TargetKind::CPU)
      break;
    for (const SmallVector<unsigned> &choice : plans.plans)
      if (llvm::none_of(candidates, [&](const Candidate &candidate) { return candidate.choice == choice; }))
        addCandidate(choice, forms, slices);
    allowCandidates();
    bool unread = candidates.empty() && misfits.empty();
    if (unread || (anyAllowed() && !onlyPairsFit()))
      return success();
  }
  return anyAllowed() ? success() : refuse();
}

/// Whether a plan goes on from a state, in one sequence of chunks.
static bool goesOn(Candidate &candidate) {
  auto from = [](attn::CausalReadoutOp op) { return op.getInitialState() ? WalkResult::interrupt() : WalkResult::advance(); };
  return candidate.allowed && candidate.function->walk(from).wasInterrupted() &&
         llvm::none_of(candidate.priced.attentions, [](const cost::AttentionShape &shape) { return shape.split; });
}

void Selector::addSteps() {
  if (!lengths->unknown() || options.device.kind != tile::TargetKind::CPU)
    return;
  for (size_t index = 0, count = candidates.size(); index < count; ++index) {
    if (!goesOn(candidates[index]))
      continue;
    OwningOpRef<func::FuncOp> plan = memo.realize(candidates[index].choice);
    llvm::Expected<PricedPlan> priced = metric.partitionForOne(*plan);
    if (!priced) {
      ATTUNE_DEBUG() << "@" << function.getName() << ": no plan of chunks of one row: " << llvm::toString(priced.takeError());
      continue;
    }
    const Candidate &whole = candidates[index];
    if (priced->schedule != whole.priced.schedule)
      candidates.push_back({whole.choice, std::move(plan), std::move(*priced), whole.computed, whole.allowed, /*steps=*/true});
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// More tokens than these are never cheaper one by one, whatever their price: it does not say that each of them reads and writes the
/// state, which of a chunk only one does.
static constexpr int64_t mostSteps = 8;

double Selector::seconds(unsigned candidate, int64_t length) {
  if (candidates[candidate].steps && length > mostSteps)
    return std::numeric_limits<double>::infinity();
  std::vector<double> &known = secondsAt[length];
  if (known.empty())
    known.assign(candidates.size(), std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(known[candidate]))
    known[candidate] = metric.price(candidates[candidate].priced, lengths->sizesAt(length)).seconds;
  return known[candidate];
}

SmallVector<unsigned> Selector::ranked(int64_t length) {
  auto indices = llvm::seq<unsigned>(0, candidates.size());
  auto isAllowed = [&](unsigned index) { return candidates[index].allowed && !candidates[index].steps; };
  SmallVector<unsigned> allowed = llvm::filter_to_vector(indices, isAllowed);
  llvm::stable_sort(allowed, [&](unsigned a, unsigned b) { return trainedSeconds(a, length) < trainedSeconds(b, length); });
  for (unsigned plan : allowed)
    ATTUNE_DEBUG() << "@" << function.getName() << ": plan " << plan << " takes "
                   << llvm::format("%.4g", seconds(plan, length)) << " s at length " << length;
  return allowed;
}

LogicalResult Selector::solve() {
  int64_t length = lengths->reference(), place = options.place;
  SmallVector<unsigned> allowed = ranked(length);
  if (place < 0 || place >= static_cast<int64_t>(allowed.size()))
    return emitError(function.getLoc()) << "expected a place below " << allowed.size()
                                        << ", the number of plans, but got " << place;
  if (lengths->unknown() && place == 0) {
    for (auto [index, candidate] : llvm::enumerate(candidates))
      if (candidate.steps)
        allowed.push_back(index);
    llvm::sort(allowed);
    auto price = [&](unsigned plan, int64_t length) { return trainedSeconds(allowed[plan], length); };
    segments = solveThresholds(allowed.size(), price, lengths->longest(), mostPlans);
    for (Segment &segment : segments)
      segment.plan = allowed[segment.plan];
    return success();
  }
  segments = {{allowed[place], 0}};
  return success();
}

/// The form that names a plan: of the first attention that a law has something to say about, else of the first one.
attn::Form Selector::formOf(const Candidate &candidate) const {
  for (auto [group, choice] : llvm::zip_equal(memo.groups(), candidate.choice))
    if (auto form = attn::symbolizeForm(group.alternatives[choice].form))
      return *form;
  for (const cost::AttentionShape &shape : candidate.priced.attentions)
    if (shape.isAttention())
      return shape.form;
  return attn::Form::Online;
}

FailureOr<FunctionPlans> Selector::run() {
  if (llvm::any_of(options.pins, [&](const Pin &pin) { return failed(checkPin(pin)); }) || failed(makeCandidates()))
    return failure();
  if (candidates.empty()) // nothing reads the attention
    return FunctionPlans();
  lengths.emplace(sizesOf(*candidates.front().function));
  addSteps();
  findSaved();
  if (failed(solve()))
    return failure();
  FunctionPlans result;
  describe(result.selection);
  result.selection.unbound = unboundPins();
  for (const Segment &segment : segments) {
    ATTUNE_DEBUG() << "@" << function.getName() << ": plan " << segment.plan << " from length " << segment.from;
    Candidate &candidate = candidates[segment.plan];
    std::string forms = formsOf(candidate);
    result.committed.push_back({std::move(candidate.function), formOf(candidate), segment.from,
                                candidate.priced.schedule, std::move(forms)});
  }
  return result;
}

FailureOr<FunctionPlans> graph::selectPlans(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                            const SelectOptions &options) {
  return Selector(function, laws, options).run();
}
