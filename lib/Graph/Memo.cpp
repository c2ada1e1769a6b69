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
  if (!alternative.feasible())
    return alternative;
  OpBuilder builder(op);
  alternative.values = law.build(builder, op, form);
  return alternative;
}

Memo::Memo(func::FuncOp function, ArrayRef<std::unique_ptr<RewriteLaw>> laws) : scratch(function.clone()) {
  SmallVector<Operation *> ops = llvm::map_to_vector(scratch->getOps(), [](Operation &op) { return &op; });
  int attention = -1;
  for (Operation *op : ops) {
    attention += isMechanism(op);
    EqualForms group{op, attention, {}};
    for (const std::unique_ptr<RewriteLaw> &law : laws)
      if (law->appliesTo(op))
        for (StringRef form : law->forms())
          group.alternatives.push_back(offer(*law, op, form));
    if (!group.alternatives.empty())
      found.push_back(std::move(group));
  }
}

OwningOpRef<func::FuncOp> Memo::realize(ArrayRef<unsigned> choice) const {
  IRMapping mapping;
  OwningOpRef<func::FuncOp> plan(cast<func::FuncOp>(scratch.get()->clone(mapping)));
  for (auto [group, index] : llvm::zip_equal(found, choice))
    for (auto [result, value] : llvm::zip_equal(group.op->getResults(), group.alternatives[index].values))
      mapping.lookup(result).replaceAllUsesWith(mapping.lookup(value));
  // Users come after what they use, so one sweep from the end removes all that is dead.
  for (Block &block : llvm::reverse(plan->getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
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
