//===- Offers.cpp - What laws offer, for a function and for what they make of it -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Laws/Offers.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

static Alternative offer(const RewriteLaw &law, Operation *op, StringRef form) {
  Alternative alternative{&law, form, {}, law.refusal(op, form)};
  if (!alternative.feasible() || law.marks())
    return alternative;
  Operation *before = op->getPrevNode();
  OpBuilder builder(op);
  alternative.values = law.build(builder, op, form);
  Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  for (Operation *made = first; made != op; made = made->getNextNode())
    alternative.made.push_back(made);
  return alternative;
}

using Groups = SmallVector<EqualForms, 0>;
using Laws = SmallVector<const RewriteLaw *>;

/// The forms of one op that the laws which mark offer, or the others; none if they do not speak of it.
static std::optional<EqualForms> formsOf(Operation *op, ArrayRef<const RewriteLaw *> laws, bool marks) {
  EqualForms group{op, 0, {}};
  for (const RewriteLaw *law : laws)
    if (law->marks() == marks && law->appliesTo(op))
      for (StringRef form : law->formNames())
        group.alternatives.push_back(offer(*law, op, form));
  if (group.alternatives.empty())
    return std::nullopt;
  return group;
}

/// Adds the forms of some ops. Marks are asked first: they ask who reads an op, and what other laws build reads it as well.
static void addForms(ArrayRef<Operation *> ops, ArrayRef<const RewriteLaw *> laws, std::optional<Origin> origin, Groups &groups) {
  size_t begin = groups.size();
  Groups marked;
  int attention = origin ? groups[origin->group].attention : -1;
  SmallVector<int> attentions;
  for (Operation *op : ops) {
    attention += !origin && isa<attn::MechanismOpInterface>(op);
    attentions.push_back(attention);
  }
  for (bool marks : {true, false})
    for (auto [op, place] : llvm::zip_equal(ops, attentions))
      if (std::optional<EqualForms> group = formsOf(op, laws, marks)) {
        group->attention = place, group->origin = origin;
        (marks ? marked : groups).push_back(std::move(*group));
      }
  for (EqualForms &group : marked)
    for (size_t other = begin; other < groups.size(); ++other)
      if (groups[other].op == group.op)
        group.built = other;
  llvm::move(marked, std::back_inserter(groups));
}

/// The laws that have not spoken of the op of a group, nor of what that is made of.
static Laws silentOn(unsigned group, const Groups &groups, ArrayRef<const RewriteLaw *> laws) {
  Laws silent(laws);
  for (std::optional<unsigned> each = group; each;) {
    const EqualForms &forms = groups[*each];
    llvm::erase_if(silent, [&](const RewriteLaw *law) { return law->appliesTo(forms.op); });
    each = forms.origin ? std::optional(forms.origin->group) : std::nullopt;
  }
  return silent;
}

Groups graph::offerForms(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws) {
  SmallVector<Operation *> ops = llvm::map_to_vector(function.getOps(), [](Operation &op) { return &op; });
  Laws all = llvm::map_to_vector(laws, [](const auto &law) -> const RewriteLaw * { return law.get(); });
  Groups groups;
  addForms(ops, all, std::nullopt, groups);
  for (unsigned group = 0; group < groups.size(); ++group)
    for (unsigned index = 0; index < groups[group].alternatives.size(); ++index)
      if (SmallVector<Operation *> made = groups[group].alternatives[index].made; !made.empty())
        addForms(made, silentOn(group, groups, all), Origin{group, index}, groups);
  return groups;
}

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

std::optional<PinRefusal> graph::refusePin(func::FuncOp function, const RewriteLaw &law, StringRef form) {
  OwningOpRef<func::FuncOp> scratch(function.clone());
  std::string reason;
  llvm::SmallSetVector<StringRef, 8> possible;
  std::vector<std::unique_ptr<RewriteLaw>> laws = createLaws();
  Groups groups = offerForms(*scratch, laws);
  for (const EqualForms &group : groups)
    for (const Alternative &alternative : group.alternatives) {
      if (alternative.law->name() != law.name())
        continue;
      if (alternative.feasible())
        possible.insert(alternative.form);
      else if (alternative.form == form && reason.empty())
        reason = alternative.refusal;
    }
  if (possible.contains(form))
    return std::nullopt;
  if (reason.empty())
    return PinRefusal{true, (law.row.subject + " for " + law.name()).str(), "none",
                      ("remove the pin: " + law.row.without).str()};
  return PinRefusal{false, "a form that this attention can take (" + llvm::join(possible, ", ") + ")",
                    ("'" + form + "'").str(), reason};
}
