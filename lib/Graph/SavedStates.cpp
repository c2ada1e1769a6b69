//===- SavedStates.cpp - States and what is written to them, left for gradients ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   S = φ(K)ᵀ V,  z = φ(K)ᵀ 1,  and  M_f = max_j ln φ(K)_jf  where features stand in units of their largest ones (FeatureUnits.cpp)
//
// or of EFFATT, whose features are divided by their sums,
//
//   S = softmax_j(K)ᵀ V  and  L_f = ln Σ_j e^{K_jf}
//
// Without a mask that is all which gradients need of a pass over the keys: m (dv + 2) numbers a head, whatever the length. The kernel that makes the
// state of a plan stores these, too, whose features take the same units.
//
// Keys that erase write u = v − S̃ᵀ (β ⊙ b). Gradients read it of every token, and to make it again is a pass through all states: the kernel of a plan's
// chunks stores it, dv numbers a token and head.
//
//===----------------------------------------------------------------------===//
#include "FeatureUnits.h"
#include "SavedStates.h"

#include "attune/Attn/Execution.h"
#include "attune/Attn/Exponents.h"
#include "attune/Attn/Folded.h"
#include "attune/Graph/Metric.h"

using namespace mlir;
using namespace attune;

/// The largest logarithms of features, in whose units a state stands; null: there are none.
static attn::KeyMaximumOp maximumOf(attn::StateOp state) {
  auto map = state.getFeatures().getDefiningOp<attn::MapOp>();
  return map && attn::isOfFeatures(map.getShift()) ? map.getShift().getDefiningOp<attn::KeyMaximumOp>() : attn::KeyMaximumOp();
}

/// Whether every plan has these features of keys as gradients have them. Of a map with a parameter plans may drop factors that cancel in the quotient,
/// or take other units, unless the features have units of their own.
static bool areTheSameInPlans(Value features) {
  if (auto compress = features.getDefiningOp<attn::CompressOp>())
    features = compress.getSource();
  auto map = features.getDefiningOp<attn::MapOp>();
  return map && (!map.getParameter() || attn::isOfFeatures(map.getShift()));
}

/// The logarithms of the sums that the features of a state are divided by; null: these are no softmax over the sequence.
static attn::SequenceLseOp lseOf(attn::StateOp state) {
  auto weights = state.getFeatures().getDefiningOp<attn::SequenceWeightsOp>();
  return weights ? weights.getLse().getDefiningOp<attn::SequenceLseOp>() : attn::SequenceLseOp();
}

Operation *graph::quotientOfState(attn::StateOp state) {
  auto readout = state.getState().hasOneUse() ? dyn_cast<attn::ReadoutOp>(*state.getState().user_begin()) : attn::ReadoutOp();
  return readout && readout.getNumerator().hasOneUse() ? *readout.getNumerator().user_begin() : nullptr;
}

std::optional<graph::SavePoint> graph::statePoint(func::FuncOp function) {
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return std::nullopt;
  SmallVector<attn::StateOp> all(function.getOps<attn::StateOp>());
  if (all.size() != 1)
    return std::nullopt;
  if (attn::SequenceLseOp lse = lseOf(all.front())) {
    SavePoint point(all.front(), {"state"});
    point.names.push_back("feature_lse"), point.values.push_back(lse.getResult());
    return point;
  }
  if (all.front().getSum().use_empty() || !areTheSameInPlans(all.front().getFeatures()))
    return std::nullopt;
  SavePoint point(all.front(), {"state", "sum"});
  if (attn::KeyMaximumOp maximum = maximumOf(all.front()))
    point.names.push_back("maximum"), point.values.push_back(maximum.getResult());
  return point;
}

/// Whether the kernels that make a state can have the units of its features: not where a kernel before them stores these, or where tokens are multiplied
/// by the map's parameter already.
static bool mayTakeUnits(attn::MapOp map) { return !attn::isMappedAlone(map) && !attn::isFolded(map.getSource()); }

/// The only EFFATT of a plan; null: it has none, or more.
static attn::EffattOp effattOf(func::FuncOp plan) {
  SmallVector<attn::EffattOp> all(plan.getOps<attn::EffattOp>());
  return all.size() == 1 && llvm::is_contained(graph::opsOfAttentions(plan), all.front()) ? all.front() : attn::EffattOp();
}

Operation *graph::storedState(func::FuncOp plan, const SavePoint &wanted) {
  if (lseOf(cast<attn::StateOp>(wanted.op)))
    return effattOf(plan);
  SmallVector<attn::StateOp> all(plan.getOps<attn::StateOp>());
  Operation *quotient = all.size() == 1 ? quotientOfState(all.front()) : nullptr;
  if (!quotient || !llvm::is_contained(opsOfAttentions(plan), quotient))
    return nullptr;
  OwningOpRef<func::FuncOp> copy(plan.clone());
  shiftFeatures(copy->getBody().front());
  std::optional<SavePoint> own = statePoint(*copy);
  bool inUnits = own && maximumOf(cast<attn::StateOp>(own->op));
  if (inUnits && !llvm::all_of(plan.getOps<attn::MapOp>(), mayTakeUnits))
    return nullptr;
  return own && inUnits == static_cast<bool>(maximumOf(cast<attn::StateOp>(wanted.op))) ? all.front() : nullptr;
}

/// EFFATT with what it leaves among its results.
static graph::SavePoint leftOf(attn::EffattOp op, const graph::SavePoint &wanted) {
  if (!op.getState()) {
    OpBuilder builder(op);
    SmallVector<Type> left = llvm::map_to_vector(wanted.values, [](Value value) { return value.getType(); });
    auto result = attn::EffattOp::create(builder, op.getLoc(), op.getOutput().getType(), left, op.getQuery(), op.getKey(), op.getValue(), op.getLengths());
    result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op.getOutput().replaceAllUsesWith(result.getOutput());
    op.erase();
    op = result;
  }
  graph::SavePoint point = wanted;
  point.op = op;
  point.values = {op.getState(), op.getLse()};
  return point;
}

/// A point of the function's terms made beside what the plan has.
static graph::SavePoint madeBeside(const graph::SavePoint &wanted, OpBuilder &builder, IRMapping &mapping) {
  graph::SavePoint beside = wanted;
  graph::cloneWithOperands(wanted.op, builder, mapping);
  for (Value &value : beside.values)
    value = mapping.lookup(value);
  beside.op = beside.values.front().getDefiningOp();
  return beside;
}

graph::SavePoint graph::stateInPlan(func::FuncOp plan, const SavePoint &wanted, OpBuilder &builder, IRMapping &mapping) {
  Operation *stored = storedState(plan, wanted);
  if (auto effatt = dyn_cast_or_null<attn::EffattOp>(stored))
    return leftOf(effatt, wanted);
  if (stored) {
    shiftFeatures(plan.getBody().front());
    return *statePoint(plan);
  }
  return madeBeside(wanted, builder, mapping);
}

//===----------------------------------------------------------------------===//
// What keys that erase write
//===----------------------------------------------------------------------===//

std::optional<graph::SavePoint> graph::writtenPoint(func::FuncOp function) {
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return std::nullopt;
  SmallVector<attn::CausalReadoutOp> all;
  llvm::copy_if(function.getOps<attn::CausalReadoutOp>(), std::back_inserter(all), [](attn::CausalReadoutOp op) { return static_cast<bool>(op.getWritten()); });
  if (all.size() != 1)
    return std::nullopt;
  SavePoint point(all.front(), {});
  point.names.push_back("written"), point.values.push_back(all.front().getWritten());
  return point;
}

Operation *graph::quotientOf(attn::CausalReadoutOp readout) {
  return readout.getNumerator().hasOneUse() ? *readout.getNumerator().user_begin() : nullptr;
}

attn::CausalReadoutOp graph::storedWritten(func::FuncOp plan) {
  SmallVector<attn::CausalReadoutOp> all(plan.getOps<attn::CausalReadoutOp>());
  if (all.size() != 1 || !all.front().getErase() || !llvm::is_contained(opsOfAttentions(plan), quotientOf(all.front())))
    return nullptr;
  bool shares = all.front().getQueryFeatures().getType().getDimSize(1) != all.front().getKeyFeatures().getType().getDimSize(1);
  return shares ? attn::CausalReadoutOp() : all.front();
}

graph::SavePoint graph::writtenInPlan(func::FuncOp plan, const SavePoint &wanted, OpBuilder &builder, IRMapping &mapping) {
  attn::CausalReadoutOp stored = storedWritten(plan);
  return stored ? *writtenPoint(attn::withWritten(stored)->getParentOfType<func::FuncOp>()) : madeBeside(wanted, builder, mapping);
}
