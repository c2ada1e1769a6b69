//===- SelectionRecord.cpp - What was decided, and why --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExactSoftmax.h"
#include "Selector.h"
#include "attune/Graph/Differentiate.h"
#include "attune/Graph/KeepForBackward.h"
#include "attune/Graph/PrintNumbers.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

/// The attentions of a function in its order, which is that of the parts of a spec.
static SmallVector<Operation *> attentionOps(func::FuncOp function) {
  auto ops = llvm::make_pointer_range(function.getOps());
  return llvm::filter_to_vector(ops, isMechanism);
}

bool Selector::agreesBeside(const Candidate &candidate, unsigned group) const {
  for (auto [index, forms] : llvm::enumerate(memo.groups())) {
    bool gone = computePinned && misses(candidate, index);
    if (index != group && (gone || !agrees(forms, forms.alternatives[candidate.choice[index]])))
      return false;
  }
  return true;
}

std::optional<unsigned> Selector::cheapestWith(unsigned group, unsigned alternative, int64_t length) {
  for (bool pinned : {true, false}) { // what a form costs is told beside the pinned ones of other ops, if that can run
    std::optional<unsigned> best;
    for (auto [index, candidate] : llvm::enumerate(candidates))
      if (candidate.has(group, alternative) && agreesBeside(candidate, group) == pinned &&
          (!best || seconds(index, length) < seconds(*best, length)))
        best = index;
    if (best)
      return best;
  }
  return std::nullopt;
}

/// The projection that an op is or stands after; null for attentions.
static attn::ProjectOp projectionOf(Operation *op) {
  while (op && isa<attn::CompressOp, attn::RopeOp, attn::QkNormOp, attn::TakeHeadsOp, attn::RepeatHeadsOp, attn::MapOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<attn::ProjectOp>(op);
}

/// The weight of the projection that an op is or stands after; null for attentions.
static Value weightOf(Operation *op) {
  if (auto project = dyn_cast<attn::ProjectOutputOp>(op))
    return project.getWeight();
  attn::ProjectOp project = projectionOf(op);
  return project ? project.getWeight() : Value();
}

/// The name of a projection's weight; empty for attentions.
static std::string subjectOf(Operation *op) {
  auto weight = dyn_cast_or_null<BlockArgument>(weightOf(op));
  if (!weight)
    return "";
  auto function = cast<func::FuncOp>(weight.getOwner()->getParentOp());
  auto name = function.getArgAttrOfType<StringAttr>(weight.getArgNumber(), "attn.name");
  return name ? name.str() : "weight" + std::to_string(weight.getArgNumber());
}

static std::string madeFor(const Memo &memo, const Origin &origin) {
  return memo.groups()[origin.group].alternatives[origin.alternative].form.str();
}

std::string Decision::name() const {
  std::string text = law + (subject.empty() ? "" : " " + subject) + ": " + form;
  return part ? "part" + std::to_string(*part) + " " + text : text;
}

Decision Selector::named(unsigned group, unsigned index) {
  const EqualForms &forms = memo.groups()[group];
  const Alternative &alternative = forms.alternatives[index];
  const Pin *pin = pinOf(*alternative.law);
  Decision decision{alternative.law->name().str(),
                    alternative.form.str(),
                    forms.origin ? madeFor(memo, *forms.origin) : subjectOf(forms.op),
                    {},
                    {},
                    true,
                    {},
                    0,
                    {},
                    {},
                    {},
                    {},
                    forms.op->getLoc()};
  bool isOfAttention = forms.origin || (decision.subject.empty() && isMechanism(forms.op));
  if (isOfAttention && attentionOps(function).size() > 1)
    decision.part = forms.attention;
  decision.pinned = pin && pin->form == alternative.form;
  return decision;
}

Decision Selector::describe(unsigned group, unsigned index) {
  Decision decision = named(group, index);
  const Alternative &alternative = memo.groups()[group].alternatives[index];
  int64_t length = lengths->reference();
  std::optional<unsigned> best = cheapestWith(group, index, length);
  decision.feasible = alternative.feasible() && best;
  if (!decision.feasible) {
    auto misfit = llvm::find_if(misfits, [&](const Misfit &each) { return each.choice[group] == index; });
    decision.reason = !alternative.feasible()     ? alternative.refusal
                      : misfit != misfits.end() ? misfit->reason
                                                : "there are more plans than are priced, and none of those has it";
    return decision;
  }
  PlanPrice price = metric.price(candidates[*best].priced, lengths->sizesAt(length));
  decision.seconds = price.seconds, decision.work = price.work;
  for (const Segment &segment : segments)
    if (candidates[segment.plan].has(group, index) && !decision.taken) {
      decision.taken = true;
      if (lengths->unknown())
        decision.from = segment.from;
    }
  unsigned chosen = chosenAt(length);
  // A library has other plans for other lengths; where it gives one up that is cheaper by little, nothing is lost.
  constexpr double worthTelling = 1.02;
  auto either = [&](unsigned plan, int64_t at) {
    if (!lengths->unknown())
      return seconds(plan == 0 ? chosen : *best, at);
    return plan == 0 ? seconds(chosenAt(at), at) : worthTelling * seconds(*best, at);
  };
  if (tellsCrossovers() && !decision.taken && decision.seconds >= seconds(chosen, length))
    decision.cheaper = findCrossover(0, 1, either, length, lengths->longest());
  decision.reason = reasonOf(decision, group, index);
  return decision;
}

std::string Selector::whereCheapest(int64_t from, unsigned group, unsigned alternative) const {
  const Segment *next = llvm::find_if(segments, [&](const Segment &segment) {
    return segment.from > from && !candidates[segment.plan].has(group, alternative);
  });
  if (next == segments.end())
    return from == 0 ? "the cheapest at all lengths"
                     : llvm::formatv("the cheapest from {0} = {1}", lengths->name(), from).str();
  if (from == 0)
    return llvm::formatv("the cheapest below {0} = {1}", lengths->name(), next->from);
  return llvm::formatv("the cheapest from {0} = {1} to {2}", lengths->name(), from, next->from - 1);
}

/// What a plan costs beside another one, which is cheaper.
static std::string dearer(double seconds, double cheaper, StringRef than = "") {
  double ratio = seconds / cheaper;
  if (ratio < 1.0005)
    return than.empty() ? "the same price" : "as cheap as " + than.str();
  if (ratio < 1.1)
    return llvm::formatv("{0:f1} % dearer{1}{2}", 100 * (ratio - 1), than.empty() ? "" : " than ", than);
  std::string times = ratio < 1000 ? llvm::formatv("{0:f1}", ratio).str() : printCount(ratio);
  return times + " times the price" + (than.empty() ? "" : " of " + than.str());
}

std::string Selector::reasonOf(const Decision &decision, unsigned group, unsigned alternative) {
  int64_t length = lengths->reference();
  double chosen = seconds(chosenAt(length), length);
  bool asked = options.place > 0;
  if (decision.taken && (decision.pinned || asked)) {
    const char *why = decision.pinned ? "pinned" : "asked for";
    double least = chosen;
    for (unsigned index = 0; index < candidates.size(); ++index)
      least = std::min(least, seconds(index, length));
    return llvm::formatv("{0}; {1}", why, least < chosen ? dearer(chosen, least, "the cheapest") : "the cheapest anyway");
  }
  auto possible = [&](unsigned index) { return cheapestWith(group, index, length).has_value(); };
  if (decision.taken && llvm::count_if(llvm::seq<unsigned>(memo.groups()[group].alternatives.size()), possible) == 1)
    return "the only one possible";
  if (decision.taken && !decision.from)
    return "the cheapest";
  if (decision.taken)
    return whereCheapest(*decision.from, group, alternative);
  std::string reason = decision.seconds >= chosen ? dearer(decision.seconds, chosen)
                       : asked                    ? "another plan was asked for"
                       : !options.pins.empty()    ? "another form is pinned"
                                                  : "cheaper here, by too little for a plan of its own";
  if (decision.cheaper)
    reason += llvm::formatv("; cheaper {0} {1} = {2}", decision.cheaper->below ? "below" : "from", lengths->name(),
                            decision.cheaper->length);
  return reason;
}

std::optional<PricedPlan> Selector::softmaxPlan() {
  OwningOpRef<func::FuncOp> exact = withExactSoftmax(function);
  if (!exact)
    return std::nullopt;
  llvm::Expected<PricedPlan> softmax = metric.partition(*exact);
  if (!softmax) {
    consumeError(softmax.takeError());
    return std::nullopt;
  }
  return std::move(*softmax);
}

std::optional<ExactComparison> Selector::compareWithSoftmax() {
  std::optional<PricedPlan> softmax = softmaxPlan();
  if (!softmax)
    return std::nullopt;
  ExactComparison comparison;
  auto price = [&](unsigned plan, int64_t length) {
    return plan == 0 ? seconds(chosenAt(lengths->unknown() ? length : lengths->reference()), length)
                     : metric.price(*softmax, lengths->sizesAt(length)).seconds;
  };
  int64_t length = lengths->reference();
  comparison.seconds = price(1, length);
  if (!tellsCrossovers())
    return comparison;
  if (comparison.seconds >= price(0, length))
    comparison.cheaper = findCrossover(0, 1, price, length, lengths->longest());
  else
    comparison.dearer = findCrossover(1, 0, price, length, lengths->longest());
  return comparison;
}

void Selector::describeSingle(FunctionSelection &selection) {
  SmallVector<Operation *> attentions = attentionOps(function);
  for (auto [place, op] : llvm::enumerate(attentions)) {
    auto isOf = [&, place = int(place)](const EqualForms &group) {
      return group.attention == place && isMechanism(group.op);
    };
    if (llvm::any_of(memo.groups(), isOf))
      continue;
    std::string name = op->getName().stripDialect().str();
    if (attentions.size() > 1)
      name += " (part" + std::to_string(place) + ")";
    selection.single.push_back(std::move(name));
  }
}

/// Whether queries and keys are of one input, so that there is one length to leave open.
static bool isOfOneInput(func::FuncOp function) {
  return llvm::count_if(function.getArgumentTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.getRank() >= 3 && tensor.isDynamicDim(tensor.getRank() - 2);
         }) == 1;
}

void Selector::describe(FunctionSelection &selection) {
  selection.function = function.getName().str();
  selection.device = options.device.name;
  bool onCpu = options.device.kind == tile::TargetKind::CPU;
  selection.threads = onCpu ? static_cast<int64_t>(options.device.cores) : 0;
  selection.unknownLengths = lengths->unknown(), selection.unknownBatch = lengths->unknownBatch();
  selection.oneLength = selection.unknownLengths && isOfOneInput(function);
  selection.length = lengths->reference(), selection.lengthName = lengths->name();
  RuntimeSizes sizes = lengths->sizesAt(selection.length);
  selection.queries = sizes.queries, selection.keys = sizes.keys;
  selection.batch = lengths->batch();
  PlanPrice price = metric.price(candidates[chosenAt(selection.length)].priced, lengths->sizesAt(selection.length));
  selection.seconds = price.seconds, selection.work = price.work;
  selection.complete = complete, selection.priced = llvm::count_if(candidates, [](const Candidate &candidate) { return !candidate.steps; });
  for (auto [group, forms] : llvm::enumerate(memo.groups()))
    for (unsigned index = 0; index < forms.alternatives.size(); ++index)
      selection.decisions.push_back(describe(group, index));
  describeKernels(selection);
  describeSingle(selection);
  selection.isSoftmax = !withExactSoftmax(function);
  if (function->hasAttr(gradientsAttr)) {
    Operation *kept = options.savePin == "none" ? nullptr : keptAttention(function);
    int64_t heads = kept ? cast<RankedTensorType>(kept->getOperand(0).getType()).getDimSize(1) : 0;
    selection.leftBytes = 4 * selection.batch * heads * selection.queries;
    describeSaved(selection);
  }
  selection.exact = compareWithSoftmax();
  describeRejected(selection);
  if (options.curves)
    describeCurves(selection);
}
