//===- SameTokens.cpp - Results behind features of the same tokens ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "TermRules.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The features that rows are made of, by a map or a softmax over the sequence, and those whose map the rows are a gradient behind: of which tokens.
static llvm::SmallSetVector<Value, 4> mappedTokens(Value value) {
  llvm::SmallSetVector<Value, 4> tokens;
  SmallVector<Value> left{value};
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    const TermRule *rule = op ? ruleOf(op) : nullptr;
    if (!rule)
      continue;
    if (isa<attn::MapOp, attn::MapGradientOp, attn::SequenceSoftmaxOp>(op))
      tokens.insert(op->getOperand(0));
    for (auto [operand, side] : llvm::zip(op->getOperands(), rule->sides))
      if (side == Side::Rows)
        left.push_back(operand);
  }
  return tokens;
}

/// Results that no reduction makes, of as many heads, behind features of the same tokens: one kernel maps these once for all.
SmallVector<WrittenValue, 2> HostBuilder::resultsOfSameTokens(Value value, const Output &output) const {
  SmallVector<WrittenValue, 2> outputs{{value, output}};
  auto isAlone = [&](Value each) {
    Operation *op = each.getDefiningOp();
    return missing.contains(each) && isResult(each) && shapeOf(each).size() == 4 && !isState(each) && !arePairs(each) && ruleOf(op) && ruleOf(op)->build &&
           !isa<attn::SumHeadsOp>(op) && !reductionOf(each) && !lengthsOfRows(each, *this);
  };
  if (schedule.getTarget() != tile::TargetKind::CPU || schedule.isSliced() || !isAlone(value))
    return outputs;
  llvm::SmallSetVector<Value, 4> tokens = mappedTokens(value);
  for (Value other : missing)
    if (other != value && isAlone(other) && shapeOf(other)[1] == shapeOf(value)[1] &&
        llvm::any_of(mappedTokens(other), [&](Value each) { return tokens.contains(each); }))
      outputs.push_back({other, outputOf(other)});
  return outputs;
}
