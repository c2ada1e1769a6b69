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
// is shifted, and logarithms have the cotangents: those of causal readouts, and of attn.feature_attention, which quotients of pairs in windows
// become. Keys of all stand without FAVOR's constant, which cancels as well: of the
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
  attn::NormalizeOp divided; ///< of numerators and denominators that weights of pairs in a mask make, each one; null: of others
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

/// Whether sums are numerators and denominators of quotients, and are read by nothing else; of quotients that nothing holds back, or that carry
/// features under any guard.
static bool areDivided(ArrayRef<Value> sums, attn::MapOp map, bool isGuarded) {
  int64_t width = map.getSource().getType().getDimSize(3);
  return llvm::all_of(sums, [&](Value sum) {
    return llvm::all_of(sum.getUsers(), [&](Operation *user) {
      auto quotient = dyn_cast<attn::NormalizeOp>(user);
      return quotient && quotient.getDenominator() && (isGuarded || (quotient.getGuard().getBias() == 0 && quotient.getGuard().getFloor() == 0)) &&
             llvm::is_contained(sums, quotient.getNumerator()) && llvm::is_contained(sums, quotient.getDenominator()) &&
             attn::carriesExponents(map.getFeatureMap(), width, quotient.getGuard());
    });
  });
}

/// The quotient of the only product with values and the only sum of rows of weights in a mask; null: there is another.
static attn::NormalizeOp quotientInMask(ArrayRef<Value> sums) {
  auto divided = sums.size() == 2 && sums[0].hasOneUse() && sums[1].hasOneUse() ? dyn_cast<attn::NormalizeOp>(*sums[0].user_begin()) : attn::NormalizeOp();
  auto product = divided ? divided.getNumerator().getDefiningOp<attn::ContractOp>() : attn::ContractOp();
  auto sum = divided && divided.getDenominator() ? divided.getDenominator().getDefiningOp<attn::RowSumOp>() : attn::RowSumOp();
  auto visible = product ? product.getLhs().getDefiningOp<attn::VisibleOp>() : attn::VisibleOp();
  bool isOfOne = sum && visible && sum.getWeights() == visible && !visible.getLast() && visible.getWeights().hasOneUse() &&
                 visible.getWeights().getDefiningOp<attn::ContractOp>();
  return isOfOne ? divided : attn::NormalizeOp();
}

/// Of features of keys that go into one state, or into weights of pairs.
static Quotient quotientOf(attn::MapOp key) {
  if (!key.getKeys() || key.getShift() || !key->hasOneUse() || !attn::haveLogarithms(key.getFeatureMap()))
    return {};
  Operation *user = *key->user_begin();
  auto shares = dyn_cast<attn::GateOp>(user);
  if (shares && shares->hasOneUse() && shares.getGate().getType().getRank() == 3)
    user = *shares->user_begin();
  SmallVector<Value> sums;
  Value features;
  bool ofAllKeys = true;
  if (auto state = dyn_cast<attn::StateOp>(user)) {
    auto readout = state.getState().hasOneUse() ? dyn_cast<attn::ReadoutOp>(*state.getState().user_begin()) : attn::ReadoutOp();
    if (!readout || !state.getSum().hasOneUse() || readout.getSum() != state.getSum())
      return {};
    features = readout.getFeatures(), sums = {readout.getNumerator(), readout.getDenominator()};
  } else if (auto readout = dyn_cast<attn::CausalReadoutOp>(user)) {
    if (readout.getInitialState() || !readout.getState().use_empty() || !readout.getSum().use_empty() ||
        readout.getKeyFeatures() != (shares ? shares.getResult() : key.getResult()))
      return {};
    features = readout.getQueryFeatures(), sums = {readout.getNumerator(), readout.getDenominator()}, ofAllKeys = false;
  } else if (auto pairs = dyn_cast<attn::ContractOp>(user); pairs && pairs.getRhs() == key.getResult() && areSummed(pairs.getResult(), sums, ofAllKeys)) {
    features = pairs.getLhs();
  }
  auto query = features ? features.getDefiningOp<attn::MapOp>() : attn::MapOp();
  bool isAlike = query && query->hasOneUse() && !query.getKeys() && attn::areAlike(query, key);
  return isAlike && areDivided(sums, key, /*isGuarded=*/!ofAllKeys) ? Quotient{query, key, ofAllKeys, quotientInMask(sums)} : Quotient();
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

/// Attention over features in place of a quotient of sums over pairs.
static void raisePairs(const Quotient &quotient) {
  attn::NormalizeOp divided = quotient.divided;
  attn::MapOp query = quotient.query, key = quotient.key;
  auto product = divided.getNumerator().getDefiningOp<attn::ContractOp>();
  auto visible = product.getLhs().getDefiningOp<attn::VisibleOp>();
  OpBuilder builder(divided);
  auto attention = attn::FeatureAttentionOp::create(builder, divided.getLoc(), divided.getOutput().getType(), divided.getDenominator().getType(),
                                                    query.getResult(), key.getResult(), product.getRhs(), visible.getLengths(), divided.getGuardAttr(),
                                                    visible.getCausalAttr(), visible.getWindowAttr());
  divided.getOutput().replaceAllUsesWith(attention.getOutput());
  for (Operation *op : {divided.getOperation(), divided.getDenominator().getDefiningOp(), product.getOperation(), visible.getOperation(),
                        visible.getWeights().getDefiningOp()})
    op->erase();
}

void graph::shiftFeatures(Block &body) {
  for (auto key : llvm::make_early_inc_range(body.getOps<attn::MapOp>())) {
    Quotient quotient = quotientOf(key);
    if (!quotient.key)
      continue;
    if (attn::FeatureMapAttr map = key.getFeatureMap(); map.isFavor())
      key.setFeatureMapAttr(map.withStabilizer(attn::Stabilizer::None));
    if (!quotient.ofAllKeys && quotient.divided)
      raisePairs(quotient);
    if (!quotient.ofAllKeys)
      continue;
    Value shift = maximumOf(quotient);
    for (attn::MapOp map : {quotient.query, quotient.key})
      map.getShiftMutable().assign(shift);
  }
}
