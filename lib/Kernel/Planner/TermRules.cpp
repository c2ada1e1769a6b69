//===- TermRules.cpp - Which rule an op has ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TermRules.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// Features as wide as a square are tokens that a kernel of their own writes.
static bool isSquare(Operation *op) {
  auto isOf = [](auto map) { return map && map.getFeatureMap().isSquare(); };
  return isOf(dyn_cast<attn::MapOp>(op)) || isOf(dyn_cast<attn::MapGradientOp>(op));
}

const TermRule *kernel::ruleOf(Operation *op) {
  static const TermRules rules = [] {
    TermRules all;
    addGradientRules(all), addMapRules(all), addPairRules(all), addStateRules(all), addBlockRules(all), addFeaturePairRules(all);
    return all;
  }();
  if (auto contract = dyn_cast<attn::ContractOp>(op))
    return ruleOfContract(contract);
  if (isSquare(op))
    return nullptr;
  if (auto spread = dyn_cast<attn::SpreadOp>(op))
    return ruleOfSpread(spread);
  if (auto heads = dyn_cast<attn::SumHeadsOp>(op); heads && isState(heads.getSource()))
    return ruleOfStateSums();
  if (isa<attn::AddOp>(op) && isState(op->getResult(0)))
    return ruleOfSumOfStates();
  auto found = rules.byName.find(op->getName().getStringRef());
  return found == rules.byName.end() ? nullptr : &found->second;
}

bool kernel::isMaterialized(Operation *op) {
  const TermRule *rule = ruleOf(op);
  return rule && rule->materialize && (!rule->isMaterialized || rule->isMaterialized(op));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Operation *kernel::reductionOf(Value value) {
  Operation *op = value.getDefiningOp();
  const TermRule *rule = op ? ruleOf(op) : nullptr;
  if (!rule || rule->frame != Frame::None)
    return rule ? op : nullptr;
  for (auto [operand, side] : llvm::zip(op->getOperands(), rule->sides)) {
    Operation *reduction = rule->isEpilogue && side == Side::Rows ? reductionOf(operand) : nullptr;
    // The heads of a group are in one program where that has blocks of keys.
    if (reduction && isa<attn::SumHeadsOp>(op) && ruleOf(reduction)->frame != Frame::Keys)
      return nullptr;
    if (reduction)
      return reduction;
    if (isa<attn::NormalizeOp>(op)) // tokens that are divided, by sums that others have made
      return nullptr;
  }
  return nullptr;
}

Frame kernel::frameOf(Operation *reduction) {
  auto readout = dyn_cast<attn::ReadoutOp>(reduction);
  Operation *state = readout ? readout.getState().getDefiningOp() : nullptr;
  return state && isa<attn::StateOp>(state) && !isMaterialized(state) ? Frame::States : ruleOf(reduction)->frame;
}

const void *kernel::streamOf(Operation *reduction) {
  if (ruleOf(reduction)->frame == Frame::Keys)
    return originOfPairs(reduction->getOperand(0));
  bool ofWeights = ruleOf(reduction)->keys == keysOfSum;
  return ofWeights ? reduction->getOperand(0).getAsOpaquePointer() : static_cast<const void *>(reduction);
}

attn::DenominatorAttr kernel::guardOf(Operation *sums) {
  for (Operation *user : sums->getUsers())
    if (auto quotient = dyn_cast<attn::NormalizeOp>(user))
      return quotient.getGuardAttr();
  llvm_unreachable("sums that stand in units are divided");
}
