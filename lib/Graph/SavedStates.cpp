//===- SavedStates.cpp - The state of keys, which a run leaves for gradients ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   S = φ(K)ᵀ V,  z = φ(K)ᵀ 1,  and  M_f = max_j ln φ(K)_jf  where features stand in units of their largest ones (FeatureUnits.cpp)
//
// Without a mask that is all which gradients need of a pass over the keys: m (dv + 2) numbers a head, whatever the length. The kernel that makes the
// state of a plan stores these, too, whose features take the same units.
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

Operation *graph::quotientOfState(attn::StateOp state) {
  auto readout = state.getState().hasOneUse() ? dyn_cast<attn::ReadoutOp>(*state.getState().user_begin()) : attn::ReadoutOp();
  return readout && readout.getNumerator().hasOneUse() ? *readout.getNumerator().user_begin() : nullptr;
}

std::optional<graph::SavePoint> graph::statePoint(func::FuncOp function) {
  if (auto allowed = function->getAttrOfType<ArrayAttr>("attn.allow"); allowed && !allowed.empty())
    return std::nullopt;
  SmallVector<attn::StateOp> all(function.getOps<attn::StateOp>());
  if (all.size() != 1 || all.front().getSum().use_empty() || !areTheSameInPlans(all.front().getFeatures()))
    return std::nullopt;
  SavePoint point(all.front(), {"state", "sum"});
  if (attn::KeyMaximumOp maximum = maximumOf(all.front()))
    point.names.push_back("maximum"), point.values.push_back(maximum.getResult());
  return point;
}

/// Whether the kernels that make a state can have the units of its features: not where a kernel before them stores these, or where tokens are multiplied
/// by the map's parameter already.
static bool mayTakeUnits(attn::MapOp map) { return !attn::isMappedAlone(map) && !attn::isFolded(map.getSource()); }

attn::StateOp graph::storedState(func::FuncOp plan, const SavePoint &wanted) {
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
  return own && inUnits == static_cast<bool>(maximumOf(cast<attn::StateOp>(wanted.op))) ? all.front() : attn::StateOp();
}

graph::SavePoint graph::stateInPlan(func::FuncOp plan, const SavePoint &wanted, OpBuilder &builder, IRMapping &mapping) {
  if (storedState(plan, wanted)) {
    shiftFeatures(plan.getBody().front());
    return *statePoint(plan);
  }
  SavePoint beside = wanted;
  cloneWithOperands(wanted.op, builder, mapping);
  for (Value &value : beside.values)
    value = mapping.lookup(value);
  beside.op = beside.values.front().getDefiningOp();
  return beside;
}
