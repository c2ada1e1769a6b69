//===- GradientBlocked.cpp - Cotangents of pools, of the softmax over the sequence, and of EVA's terms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnGradients.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::gradients;

SmallVector<Value> PoolOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  return {UnpoolOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getSource())};
}

static constexpr Role keyFeatures[] = {Role::Batch, Role::Head, Role::Key, Role::Feature};
static constexpr Role featureSums[] = {Role::Batch, Role::Head, Role::Feature};
static constexpr Role stateEntries[] = {Role::Batch, Role::Head, Role::Feature, Role::Value};

/// Σ_j B_jf ȳ_jf. If ȳ = V S̄ᵀ reaches B from a state S = Bᵀ V, that is ⟨S_f, S̄_f⟩: products of two states in place of those of all tokens.
static Value sumOfProducts(OpBuilder &builder, Location loc, Value softmax, Value cotangent) {
  auto product = cotangent.getDefiningOp<ContractOp>();
  auto there = product ? product.getLhs().getDefiningOp<ExistingOp>() : ExistingOp();
  for (Operation *user : softmax.getUsers()) {
    auto state = dyn_cast<StateOp>(user);
    if (state && product && (there ? there.getSource() : product.getLhs()) == state.getValue() &&
        product.getRhs().getType() == state.getState().getType())
      return contract(builder, loc, state.getState(), stateEntries, product.getRhs(), stateEntries, featureSums);
  }
  return contract(builder, loc, softmax, keyFeatures, cotangent, keyFeatures, featureSums);
}

/// x̄ = B ⊙ (ȳ − 1 Σ_j B_j ⊙ ȳ_j); tokens that do not exist have B = 0.
SmallVector<Value> SequenceSoftmaxOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Type type = typeLike(builder, getSource());
  Value sums = sumOfProducts(builder, loc, getResult(), cotangents[0]);
  Value mean = scaled(builder, loc, spread(builder, loc, sums, featureSums, getResult(), keyFeatures), -1);
  Gradients gradients(getNumOperands());
  gradients[0] = MultiplyOp::create(builder, loc, type, getResult(), sum(builder, loc, cotangents[0], mean));
  return gradients;
}

//===----------------------------------------------------------------------===//
// EVA
//===----------------------------------------------------------------------===//

/// A tensor with a row for each query head.
static Type perHead(OpBuilder &builder, Value tokens, int64_t heads) {
  SmallVector<int64_t> shape(shapeOf(tokens));
  shape[1] = heads;
  return f32Of(builder, shape);
}

/// With the results of an op that has `lse`.
SmallVector<Value> EvaMixOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  int64_t heads = shapeOf(getQuery())[1], shared = shapeOf(getKey())[1];
  auto op = EvaMixGradientOp::create(builder, loc, typeLike(builder, getQuery()), perHead(builder, getKey(), heads),
                                     perHead(builder, getValue(), heads), getMean().getType(), getSummary().getType(), getQuery(), getKey(),
                                     getValue(), cotangents[0], getOutput(), getLse(), getLengths(), getMean(), getSummary(), getLogWeight(), getChunkAttr(),
                                     getLocalAttr(), getScaleAttr(), getExcludeLocalAttr(), getCausalAttr());
  Gradients gradients(getNumOperands());
  gradients[0] = op.getQueryGradient();
  if (getLocal()) { // else no key is read but in its chunk
    gradients[1] = sumHeads(builder, loc, op.getKeyGradient(), shared);
    gradients[2] = sumHeads(builder, loc, op.getValueGradient(), shared);
  }
  gradients[getMeanMutable().getOperandNumber()] = op.getMeanGradient();
  gradients[getSummaryMutable().getOperandNumber()] = op.getSummaryGradient();
  return gradients;
}

/// Both cotangents come from `attn.eva_mix`, which gives both.
SmallVector<Value> EvaSummariesOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  int64_t heads = shapeOf(getQuery())[1], shared = shapeOf(getKey())[1];
  auto op = EvaSummariesGradientOp::create(builder, loc, typeLike(builder, getQuery()), perHead(builder, getKey(), heads),
                                           perHead(builder, getValue(), heads), getQuery(), getKey(), getValue(), cotangents[0], cotangents[1],
                                           getLengths(), getChunkAttr(), getLocalAttr(), getMuWeightAttr(), getScaleAttr(), getMassAttr());
  Gradients gradients(getNumOperands());
  gradients[0] = op.getQueryGradient();
  gradients[1] = sumHeads(builder, loc, op.getKeyGradient(), shared);
  gradients[2] = sumHeads(builder, loc, op.getValueGradient(), shared);
  return gradients;
}
