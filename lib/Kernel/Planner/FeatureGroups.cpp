//===- FeatureGroups.cpp - Features that are carried in one way -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureGroups.h"

#include "StateRules.h"
#include "TermRules.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

bool FeatureGroup::stabilizersCancel() const {
  return closed && !quotients.empty() && llvm::all_of(quotients, [&](attn::NormalizeOp quotient) {
    attn::DenominatorAttr guard = quotient.getGuardAttr();
    attn::MapOp map = maps.front();
    return map.getFeatureMap().stabilizerCancels(guard);
  });
}

/// Whether keys enter states with shares of themselves, which are no part of their exponents.
static bool isShare(Operation *op) {
  auto gate = dyn_cast<attn::GateOp>(op);
  return gate && cast<RankedTensorType>(gate.getGate().getType()).getRank() == 3 && llvm::all_of(gate->getUsers(), llvm::IsaPred<attn::CausalReadoutOp>);
}

/// The operands of a term that are made of features.
static SmallVector<Value> operandsOfFeatures(Operation *op) {
  if (auto contract = dyn_cast<attn::ContractOp>(op))
    return makesPairs(contract) ? SmallVector<Value>{contract.getLhs(), contract.getRhs()}
                                : SmallVector<Value>{contract.getLhs()};
  if (auto readout = dyn_cast<attn::CausalReadoutOp>(op))
    return {readout.getQueryFeatures(), readout.getKeyFeatures()};
  if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(op); gradient && gradient.getLogarithms())
    return {gradient.getQueryFeatures(), gradient.getKeyFeatures()};
  if (isa<attn::FeatureAttentionOp, attn::FeatureQueryGradientOp, attn::FeatureKeyGradientsOp>(op))
    return {op->getOperand(0), op->getOperand(1)};
  if (isa<attn::VisibleOp, attn::RowSumOp, attn::StateOp>(op) || isShare(op))
    return {op->getOperand(0)};
  if (isa<attn::ReadoutOp, attn::NormalizeOp>(op))
    return SmallVector<Value>(op->getOperands());
  return {};
}

bool kernel::isState(Value value) {
  Operation *op = value.getDefiningOp();
  unsigned number = op ? cast<OpResult>(value).getResultNumber() : 0;
  if (auto contract = dyn_cast_or_null<attn::ContractOp>(op))
    return makesState(contract) || sumsFeatures(contract) || multipliesStates(contract);
  if (auto heads = dyn_cast_or_null<attn::SumHeadsOp>(op))
    return isState(heads.getSource());
  if (auto saved = dyn_cast_or_null<attn::SavedOp>(op))
    return isState(saved.getComputed());
  if (auto sum = dyn_cast_or_null<attn::AddOp>(op))
    return isState(sum.getLhs()) || isState(sum.getRhs());
  if (isa_and_present<attn::EffattOp>(op))
    return number > 0;
  if (auto readout = dyn_cast_or_null<attn::CausalReadoutOp>(op))
    return number > 1 && value != readout.getWritten();
  return isa_and_present<attn::StateOp, attn::TrueStateOp>(op);
}

/// Whether numerator and denominator are sums of the same weights.
static bool isOfOneSum(attn::NormalizeOp quotient) {
  if (!quotient.getDenominator())
    return false;
  Operation *numerator = quotient.getNumerator().getDefiningOp(), *denominator = quotient.getDenominator().getDefiningOp();
  if (!numerator || !denominator || !quotient.getNumerator().hasOneUse() || !quotient.getDenominator().hasOneUse())
    return false;
  bool ofPairs = isa<attn::ContractOp>(numerator) && isa<attn::RowSumOp>(denominator);
  return ofPairs ? numerator->getOperand(0) == denominator->getOperand(0) : numerator == denominator;
}

/// What reads a quotient is another attention, and neither quotients nor cotangents of logarithms are in a unit.
static bool isInNoUnit(Operation *op) {
  return isa<attn::NormalizeOp, attn::CausalReadoutGradientOp, attn::FeatureAttentionOp, attn::FeatureQueryGradientOp,
             attn::FeatureKeyGradientsOp>(op);
}

/// Whether a readout's features have logarithms without a stabilizer: states are those of numbers, which go in and out, also where features are in units,
/// and logarithms are whole numbers, which decay leaves exact.
static bool ownsItsState(attn::CausalReadoutOp readout) {
  attn::MapOp map = mapOf(readout.getKeyFeatures());
  return map && attn::haveLogarithms(map.getFeatureMap()) && !map.getFeatureMap().isFavor();
}

/// The terms that hang together with one.
static SetVector<Operation *> reach(Operation *from, FeatureGroup &group) {
  SetVector<Operation *> ops;
  ops.insert(from);
  for (unsigned next = 0; next < ops.size(); ++next) {
    Operation *op = ops[next];
    bool isMap = isa<attn::MapOp>(op);
    for (Value operand : operandsOfFeatures(op)) {
      Operation *source = operand.getDefiningOp();
      bool inside = source && (isa<attn::MapOp>(source) || !operandsOfFeatures(source).empty());
      group.closed &= inside;
      group.sharesState |= !inside && isa<attn::ReadoutOp>(op);
      if (inside)
        ops.insert(source);
    }
    auto readout = dyn_cast<attn::CausalReadoutOp>(op);
    if (readout && readout.getInitialState() && !readout.getInitialScale() && !ownsItsState(readout))
      group.closed = false, group.sharesState = true;
    bool decays = readout && readout.getDecay();
    group.decays |= decays;
    group.closed &= !decays || ownsItsState(readout);
    if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(op))
      group.decays |= static_cast<bool>(gradient.getDecay());
    if (isInNoUnit(op))
      continue;
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers()) {
        if (readout && isState(result) && (readout.getScale() || ownsItsState(readout)))
          continue;
        bool inside = llvm::is_contained(operandsOfFeatures(user), result);
        group.closed &= inside;
        group.sharesState |= !inside && isState(result);
        if (inside)
          ops.insert(user);
      }
    if (!isMap && !isa<attn::VisibleOp, attn::StateOp>(op))
      for (Value result : op->getResults())
        group.closed &= isState(result) || !result.use_empty();
  }
  return ops;
}

/// Whether chunks of a gradient whose features are exponents fit a GPU beside its state, and pairs of rows of features.
static bool fitsGpu(const FeatureGroup &group, tile::ScheduleAttr schedule) {
  constexpr int64_t largeState = 12288, widestRows = 128; // of f32, whose chunks are twice as large
  attn::MapOp map = group.maps.front();
  int64_t features = map.getResult().getType().getDimSize(3);
  if (!group.gradient)
    return !group.attention || features <= widestRows;
  attn::CausalReadoutGradientOp gradient = group.gradient;
  int64_t width = cast<RankedTensorType>(gradient.getValue().getType()).getDimSize(3);
  bool isWide = schedule.getOperand().isF32();
  return features * width <= largeState + (isWide ? 0 : largeState / 3);
}

static bool canBeInUnits(const FeatureGroup &group, tile::ScheduleAttr schedule) {
  bool divides = !group.quotients.empty() || group.gradient || group.attention;
  if (!group.closed || group.maps.empty() || !divides || !llvm::all_of(group.quotients, isOfOneSum))
    return false;
  if (group.decays && schedule.getTarget() == tile::TargetKind::GPU) // which has no chunks of one row
    return false;
  if (schedule.getTarget() == tile::TargetKind::GPU && !fitsGpu(group, schedule))
    return false;
  attn::MapOp first = group.maps.front();
  attn::FeatureMapAttr map = first.getFeatureMap();
  int64_t width = cast<RankedTensorType>(first.getSource().getType()).getDimSize(3);
  auto isAlike = [&](attn::MapOp other) { return attn::areAlike(first, other); };
  return llvm::all_of(group.maps, isAlike) && llvm::all_of(group.quotients, [&](attn::NormalizeOp quotient) {
    return attn::carriesExponents(map, width, quotient.getGuard());
  });
}

FeatureGroups::FeatureGroups(func::FuncOp function, tile::ScheduleAttr schedule) {
  for (auto map : function.getOps<attn::MapOp>()) {
    if (groups.contains(map))
      continue;
    auto group = std::make_shared<FeatureGroup>();
    SetVector<Operation *> ops = reach(map, *group);
    for (Operation *op : ops) {
      groups[op] = group;
      if (auto other = dyn_cast<attn::MapOp>(op))
        group->maps.push_back(other);
      if (auto quotient = dyn_cast<attn::NormalizeOp>(op))
        group->quotients.push_back(quotient);
      if (auto attention = dyn_cast<attn::FeatureAttentionOp>(op))
        group->attention = attention;
      if (auto gradient = dyn_cast<attn::CausalReadoutGradientOp>(op))
        group->gradient = gradient;
    }
    group->inUnits = canBeInUnits(*group, schedule);
  }
}
