//===- FeatureUnits.cpp - Features in units that a quotient cancels ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With M_f the largest logarithm of feature f over all keys and c_i = max_f (ln a_if + M_f),
//
//   Σ_j ⟨a_i, b_j⟩ v_j / Σ_j ⟨a_i, b_j⟩ = Σ_j ⟨a'_i, b'_j⟩ v_j / Σ_j ⟨a'_i, b'_j⟩,
//   a'_if = a_if e^(M_f − c_i),   b'_jf = b_jf e^(−M_f)
//
// and every product of the gradient keeps its form. All a' and b' are at most 1 and the denominator is at least 1, whatever a and b are; so they are
// in the range of f32, and what is below it counts nothing. Where masks show rows some of the keys alone, their denominator may vanish: there nothing
// is shifted (causal readouts have the cotangents of logarithms instead). Keys of all stand without FAVOR's constant, which cancels as well: of the
// rows of ω, it is above the range of f32 where these are wide.
//
//===----------------------------------------------------------------------===//
#include "FeatureUnits.h"

#include "attune/Attn/Exponents.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attune;

namespace {
/// The maps of a quotient's features.
struct Quotient {
  attn::MapOp query, key;
  bool ofAllKeys = true; ///< every row has those that exist
};
} // namespace

/// What reads weights of pairs: their sums with values, and their own. False: others read them, too.
static bool areSummed(Value weights, SmallVectorImpl<Value> &sums, bool &ofAllKeys) {
  for (Operation *user : weights.getUsers()) {
    if (auto visible = dyn_cast<attn::VisibleOp>(user)) {
      ofAllKeys &= !visible.getCausal() && !visible.getWindow() && !visible.getLast();
      if (!areSummed(visible.getResult(), sums, ofAllKeys))
        return false;
    } else if (isa<attn::RowSumOp>(user) || (isa<attn::ContractOp>(user) && user->getOperand(0) == weights)) {
      sums.push_back(user->getResult(0));
    } else {
      return false;
    }
  }
  return true;
}

/// Whether sums are numerators and denominators of quotients that nothing holds back, and are read by nothing else.
static bool areDivided(ArrayRef<Value> sums, attn::MapOp map) {
  int64_t width = map.getSource().getType().getDimSize(3);
  return llvm::all_of(sums, [&](Value sum) {
    return llvm::all_of(sum.getUsers(), [&](Operation *user) {
      auto quotient = dyn_cast<attn::NormalizeOp>(user);
      return quotient && quotient.getDenominator() && quotient.getGuard().getBias() == 0 && quotient.getGuard().getFloor() == 0 &&
             llvm::is_contained(sums, quotient.getNumerator()) && llvm::is_contained(sums, quotient.getDenominator()) &&
             attn::carriesExponents(map.getFeatureMap(), width, quotient.getGuard());
    });
  });
}

/// Of features of keys that go into one state, or into weights of pairs.
static Quotient quotientOf(attn::MapOp key) {
  if (!key.getKeys() || key.getShift() || !key->hasOneUse() || !attn::haveLogarithms(key.getFeatureMap()))
    return {};
  Operation *user = *key->user_begin();
  SmallVector<Value> sums;
  Value features;
  bool ofAllKeys = true;
  if (auto state = dyn_cast<attn::StateOp>(user)) {
    auto readout = state.getState().hasOneUse() ? dyn_cast<attn::ReadoutOp>(*state.getState().user_begin()) : attn::ReadoutOp();
    if (!readout || !state.getSum().hasOneUse() || readout.getSum() != state.getSum())
      return {};
    features = readout.getFeatures(), sums = {readout.getNumerator(), readout.getDenominator()};
  } else if (auto readout = dyn_cast<attn::CausalReadoutOp>(user)) {
    if (readout.getInitialState() || !readout.getState().use_empty() || !readout.getSum().use_empty() || readout.getKeyFeatures() != key.getResult())
      return {};
    features = readout.getQueryFeatures(), sums = {readout.getNumerator(), readout.getDenominator()}, ofAllKeys = false;
  } else if (auto pairs = dyn_cast<attn::ContractOp>(user); pairs && pairs.getRhs() == key.getResult() && areSummed(pairs.getResult(), sums, ofAllKeys)) {
    features = pairs.getLhs();
  }
  auto query = features ? features.getDefiningOp<attn::MapOp>() : attn::MapOp();
  bool isAlike = query && query->hasOneUse() && !query.getKeys() && attn::areAlike(query, key);
  return isAlike && areDivided(sums, key) ? Quotient{query, key, ofAllKeys} : Quotient();
}

/// The largest logarithm of each feature, before both maps.
static Value maximumOf(const Quotient &quotient) {
  attn::MapOp query = quotient.query, key = quotient.key;
  Operation *first = query->isBeforeInBlock(key) ? query : key;
  if (Operation *source = key.getSource().getDefiningOp(); source && first->isBeforeInBlock(source))
    first = key, query->moveAfter(key);
  OpBuilder builder(first);
  ArrayRef<int64_t> b = key.getResult().getType().getShape();
  auto type = RankedTensorType::get({b[0], b[1], b[3]}, builder.getF32Type());
  return attn::KeyMaximumOp::create(builder, key.getLoc(), type, key.getSource(), key.getLengths(), key.getParameter(), key.getFeatureMapAttr());
}

void graph::shiftFeatures(Block &body) {
  for (auto key : llvm::make_early_inc_range(body.getOps<attn::MapOp>())) {
    Quotient quotient = quotientOf(key);
    if (!quotient.key)
      continue;
    if (attn::FeatureMapAttr map = key.getFeatureMap(); map.isFavor())
      key.setFeatureMapAttr(map.withStabilizer(attn::Stabilizer::None));
    if (!quotient.ofAllKeys)
      continue;
    Value shift = maximumOf(quotient);
    for (attn::MapOp map : {quotient.query, quotient.key})
      map.getShiftMutable().assign(shift);
  }
}
