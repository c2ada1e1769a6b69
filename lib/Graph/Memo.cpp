//===- Memo.cpp - Equal forms of the ops of a function, side by side ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Memo.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

Memo::Memo(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws)
    : scratch(function.clone()), found(offerForms(*scratch, laws)) {}

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

/// Whether an op is made for the form that a plan takes; those of the function itself always are.
static bool isMade(ArrayRef<EqualForms> groups, const EqualForms &group, ArrayRef<unsigned> choice) {
  const std::optional<Origin> &origin = group.origin;
  return !origin || (choice[origin->group] == origin->alternative && isMade(groups, groups[origin->group], choice));
}

/// Of each group whether the plan computes what it is about. Ops of marks may be gone.
static llvm::SmallBitVector computedIn(func::FuncOp plan, ArrayRef<EqualForms> groups, ArrayRef<Operation *> marked,
                                 ArrayRef<unsigned> choice) {
  llvm::SmallPtrSet<Operation *, 16> left;
  for (Operation &op : plan.getOps())
    left.insert(&op);
  llvm::SmallBitVector computed(groups.size(), true);
  for (auto [index, op] : llvm::enumerate(marked))
    computed[index] = isMade(groups, groups[index], choice) &&
                      (!op || (left.contains(op) && groups[index].alternatives[choice[index]].law->isComputed(op)));
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

/// The candidates of a group that make a difference in a plan, of which the choices of the groups before are given.
static ArrayRef<unsigned> differing(ArrayRef<EqualForms> groups, const EqualForms &group, ArrayRef<unsigned> candidates,
                                    ArrayRef<unsigned> before) {
  return isMade(groups, group, before) ? candidates : candidates.take_front();
}

Enumeration graph::enumeratePlans(ArrayRef<EqualForms> groups, ArrayRef<SmallVector<unsigned>> candidates, int64_t bound) {
  Enumeration result;
  if (llvm::any_of(candidates, [](const auto &group) { return group.empty(); }))
    return result;
  result.plans.emplace_back();
  bool varies = true;
  for (auto [group, all] : llvm::zip_equal(groups, candidates)) {
    std::vector<SmallVector<unsigned>> longer;
    auto extend = [&](const SmallVector<unsigned> &plan, ArrayRef<unsigned> choices) {
      for (unsigned choice : choices) {
        longer.push_back(plan);
        longer.back().push_back(choice);
      }
    };
    int64_t count = 0;
    for (const SmallVector<unsigned> &plan : result.plans)
      count += static_cast<int64_t>(differing(groups, group, all, plan).size());
    varies &= count <= bound;
    for (const SmallVector<unsigned> &plan : result.plans) {
      ArrayRef<unsigned> choices = differing(groups, group, all, plan);
      result.complete &= varies || choices.size() == 1;
      extend(plan, varies ? choices : choices.take_front());
    }
    result.plans = std::move(longer);
  }
  return result;
}
