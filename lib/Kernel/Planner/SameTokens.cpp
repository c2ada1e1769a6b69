//===- SameTokens.cpp - Results behind features of the same tokens ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of tokens of which a state is the sum come from its kernel: what both read of a token is made once, as the features of a query and the
// cotangents of its numerator and denominator are for q̄ and for S̄ and z̄:
//
//     a piece of the queries:  for each tile:  q̄ = …, stored;  S̄ += aᵀ ō,  z̄ += aᵀ w̄
//
//===----------------------------------------------------------------------===//
#include "GradientRules.h"
#include "HostBuilder.h"
#include "StateRules.h"
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
    if (isa<attn::MapOp, attn::MapGradientOp, attn::SequenceWeightsOp>(op))
      tokens.insert(op->getOperand(0));
    for (auto [operand, side] : llvm::zip(op->getOperands(), rule->sides))
      if (side == Side::Rows)
        left.push_back(operand);
  }
  return tokens;
}

/// Whether a value is a result, or a part of one, that no reduction makes, whose rows exist up to these lengths; null: all of them.
bool HostBuilder::isOfTokens(Value value, Value lengths) const {
  Operation *op = value.getDefiningOp();
  return missing.contains(value) && (isResult(value) || parts.contains(value)) && shapeOf(value).size() == 4 && !isState(value) && !arePairs(value) && ruleOf(op) &&
         ruleOf(op)->build && !isa<attn::SumHeadsOp>(op) && !lepeSum(value) && !reductionOf(value) && lengthsOfRows(value, *this) == lengths;
}

/// Such results of as many heads, behind features of the same tokens: one kernel maps these once for all.
SmallVector<WrittenValue, 2> HostBuilder::resultsOfSameTokens(Value value, const Output &output) const {
  SmallVector<WrittenValue, 2> outputs{{value, output}};
  Value lengths = lengthsOfRows(value, *this);
  if (schedule.getTarget() != tile::TargetKind::CPU || schedule.isSliced() || !isOfTokens(value, lengths))
    return outputs;
  llvm::SmallSetVector<Value, 4> tokens = mappedTokens(value);
  for (Value other : missing)
    if (other != value && isOfTokens(other, lengths) && shapeOf(other)[1] == shapeOf(value)[1] &&
        llvm::any_of(mappedTokens(other), [&](Value each) { return tokens.contains(each); }))
      outputs.push_back({other, outputOf(other)});
  return outputs;
}

/// Whether `value` is made of what `op` makes.
static bool isMadeOf(Value value, Operation *op) {
  llvm::SetVector<Operation *> sources; // each once, in the order in which they are met
  auto add = [&](Value each) {
    if (Operation *source = each.getDefiningOp(); source && !source->isBeforeInBlock(op))
      sources.insert(source);
  };
  add(value);
  for (size_t next = 0; next < sources.size(); ++next)
    llvm::for_each(sources[next]->getOperands(), add);
  return sources.contains(op);
}

/// The sum over the tokens of these rows, of features that rows read, too, which others want; null: there is none.
attn::ContractOp HostBuilder::stateOfSameTokens(ArrayRef<WrittenValue> outputs) const {
  auto [value, output] = outputs.front();
  if (schedule.getTarget() != tile::TargetKind::CPU || schedule.isSliced() || !isOfTokens(value, /*lengths=*/Value()))
    return nullptr;
  for (const WrittenValue &each : outputs)
    if (each.output.lepe || each.output.projection)
      return nullptr;
  llvm::SmallSetVector<Value, 4> tokens = mappedTokens(value);
  for (attn::ContractOp op : value.getDefiningOp()->getBlock()->getOps<attn::ContractOp>()) {
    if (!makesState(op) || memoryOf(op.getResult()) || groups().inUnits(op.getLhs().getDefiningOp()) ||
        KeySums(op).heads() != shapeOf(value)[1] ||
        llvm::none_of(mappedTokens(op.getLhs()), [&](Value each) { return tokens.contains(each); }))
      continue;
    SmallVector<Operation *, 2> ops = stateOps(op);
    auto isRelated = [&](Operation *each) {
      return llvm::any_of(outputs, [&](const WrittenValue &rows) {
        return isMadeOf(rows.value, each) || isMadeOf(each->getResult(0), rows.value.getDefiningOp());
      });
    };
    if (!ops.empty() && llvm::none_of(ops, isRelated))
      return op;
  }
  return nullptr;
}

/// Computes rows and that sum in one kernel.
LogicalResult HostBuilder::writeWithState(attn::ContractOp state, ArrayRef<WrittenValue> outputs) {
  OpSet reads, later;
  SmallVector<Operation *, 2> together = stateOps(state);
  Problem named = startProblem();
  if (failed(prepare(outputs, reads, later)))
    return failure();
  for (Operation *each : together)
    if (failed(prepareOp(each, reads, later)))
      return failure();
  later.set_subtract(OpSet(together.begin(), together.end()));
  if (failed(materializeAll(later, named)))
    return failure();
  Problem own = later.empty() ? named : startProblem();
  if (failed(buildStateKernel(together.front(), *this, own, outputs)))
    return failure();
  setMaterialized(together);
  for (const WrittenValue &each : outputs)
    missing.remove(each.value);
  return success();
}
