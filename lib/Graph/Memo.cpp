//===- Memo.cpp - Equal forms of the ops of a function, side by side ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Memo.h"

#include "attune/Graph/Metric.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

static Alternative offer(const RewriteLaw &law, Operation *op, StringRef form) {
  Alternative alternative{&law, form, {}, law.refusal(op, form)};
  if (!alternative.feasible() || law.marks())
    return alternative;
  OpBuilder builder(op);
  alternative.values = law.build(builder, op, form);
  return alternative;
}

/// The forms of these ops that the laws which mark offer, or the others.
static SmallVector<EqualForms> formsOf(ArrayRef<Operation *> ops, ArrayRef<std::unique_ptr<RewriteLaw>> laws, bool marks) {
  SmallVector<EqualForms> groups;
  int attention = -1;
  for (Operation *op : ops) {
    attention += isMechanism(op);
    EqualForms group{op, attention, {}};
    for (const std::unique_ptr<RewriteLaw> &law : laws)
      if (law->marks() == marks && law->appliesTo(op))
        for (StringRef form : law->formNames())
          group.alternatives.push_back(offer(*law, op, form));
    if (!group.alternatives.empty())
      groups.push_back(std::move(group));
  }
  return groups;
}

Memo::Memo(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws) : scratch(function.clone()) {
  SmallVector<Operation *> ops = llvm::map_to_vector(scratch->getOps(), [](Operation &op) { return &op; });
  // Marks first: they ask who reads an op, and what other laws build reads it as well.
  SmallVector<EqualForms> marked = formsOf(ops, laws, true);
  found = formsOf(ops, laws, false);
  for (EqualForms &group : marked)
    for (auto [index, other] : llvm::enumerate(found))
      if (other.op == group.op)
        group.built = index;
  llvm::append_range(found, std::move(marked));
}

/// What computes an op of a group in the copy that `mapping` leads to, after other laws have had their say.
static Operation *chosenOp(const IRMapping &mapping, ArrayRef<EqualForms> groups, ArrayRef<unsigned> choice,
                           const EqualForms &group) {
  if (!group.built)
    return mapping.lookup(group.op);
  Value result = groups[*group.built].alternatives[choice[*group.built]].values.front();
  return mapping.lookup(result).getDefiningOp();
}

SmallVector<SmallVector<unsigned>> Memo::feasible() const {
  SmallVector<SmallVector<unsigned>> forms(found.size());
  for (auto [group, indices] : llvm::zip_equal(found, forms))
    for (auto [index, alternative] : llvm::enumerate(group.alternatives))
      if (alternative.feasible())
        indices.push_back(index);
  return forms;
}

/// Of ops that marks are about, which may be gone, whether the plan computes them.
static llvm::SmallBitVector computedIn(func::FuncOp plan, ArrayRef<EqualForms> groups, ArrayRef<Operation *> marked,
                                 ArrayRef<unsigned> choice) {
  llvm::SmallPtrSet<Operation *, 16> left;
  for (Operation &op : plan.getOps())
    left.insert(&op);
  llvm::SmallBitVector computed(groups.size(), true);
  for (auto [index, op] : llvm::enumerate(marked))
    computed[index] = !op || (left.contains(op) && groups[index].alternatives[choice[index]].law->isComputed(op));
  return computed;
}

OwningOpRef<func::FuncOp> Memo::realize(ArrayRef<unsigned> chosen, llvm::SmallBitVector *computed) const {
  SmallVector<unsigned> choice(chosen);
  SmallVector<SmallVector<unsigned>> forms = feasible();
  for (size_t group = choice.size(); group < found.size(); ++group)
    choice.push_back(forms[group].front());
  IRMapping mapping;
  OwningOpRef<func::FuncOp> plan(cast<func::FuncOp>(scratch.get()->clone(mapping)));
  SmallVector<Operation *> marked;
  for (auto [group, index] : llvm::zip_equal(found, choice)) {
    const Alternative &taken = group.alternatives[index];
    marked.push_back(taken.law->marks() ? chosenOp(mapping, found, choice, group) : nullptr);
    if (marked.back())
      taken.law->mark(marked.back(), taken.form);
    else
      for (auto [result, value] : llvm::zip_equal(group.op->getResults(), taken.values))
        mapping.lookup(result).replaceAllUsesWith(mapping.lookup(value));
  }
  // Users come after what they use, so one sweep from the end removes all that is dead.
  for (Block &block : llvm::reverse(plan->getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  if (computed)
    *computed = computedIn(*plan, found, marked, choice);
  return plan;
}

/// The number of leading groups whose combinations stay within the bound.
static size_t groupsWithin(ArrayRef<SmallVector<unsigned>> candidates, int64_t bound) {
  int64_t product = 1;
  for (auto [index, group] : llvm::enumerate(candidates)) {
    product *= static_cast<int64_t>(group.size());
    if (product > bound)
      return index;
  }
  return candidates.size();
}

Enumeration graph::enumeratePlans(ArrayRef<SmallVector<unsigned>> candidates, int64_t bound) {
  Enumeration result;
  if (llvm::any_of(candidates, [](const auto &group) { return group.empty(); }))
    return result;
  size_t varied = groupsWithin(candidates, bound);
  result.complete = llvm::all_of(candidates.drop_front(varied), [](const auto &group) { return group.size() == 1; });
  SmallVector<unsigned> digits(candidates.size(), 0);
  while (true) {
    SmallVector<unsigned> plan;
    for (auto [group, digit] : llvm::zip_equal(candidates, digits))
      plan.push_back(group[digit]);
    result.plans.push_back(std::move(plan));
    size_t place = varied;
    while (place > 0 && ++digits[place - 1] == candidates[place - 1].size())
      digits[--place] = 0;
    if (place == 0)
      return result;
  }
}
