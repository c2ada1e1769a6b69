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

/// B ⊙ (ȳ − 1 Σ_j B_j ⊙ ȳ_j); tokens that do not exist have B = 0.
static Value throughSums(OpBuilder &builder, Location loc, Value weights, Value cotangent) {
  Value sums = spread(builder, loc, sumOfProducts(builder, loc, weights, cotangent), featureSums, weights, keyFeatures);
  return MultiplyOp::create(builder, loc, typeLike(builder, weights), weights, sum(builder, loc, cotangent, scaled(builder, loc, sums, -1)));
}

SmallVector<Value> SequenceSoftmaxOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  gradients[0] = throughSums(builder, getLoc(), getResult(), cotangents[0]);
  return gradients;
}

/// x̄ = B ⊙ (1 l̄ᵀ), as the weights B are what the logarithms of sums have for gradients.
SmallVector<Value> SequenceLseOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value weights = SequenceWeightsOp::create(builder, loc, typeLike(builder, getSource()), getSource(), getResult(), getLengths());
  Gradients gradients(getNumOperands());
  gradients[0] = MultiplyOp::create(builder, loc, typeLike(builder, getSource()), weights,
                                    spread(builder, loc, cotangents[0], featureSums, weights, keyFeatures));
  return gradients;
}

/// x̄ = B ⊙ ȳ and l̄ = −Σ_j B_j ⊙ ȳ_j. What reaches the source's own logarithms of sums reaches it at once.
SmallVector<Value> SequenceWeightsOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Gradients gradients(getNumOperands());
  auto own = getLse().getDefiningOp<SequenceLseOp>();
  if (own && own.getSource() == getSource() && own.getLengths() == getLengths()) {
    gradients[0] = throughSums(builder, loc, getResult(), cotangents[0]);
    return gradients;
  }
  gradients[0] = MultiplyOp::create(builder, loc, typeLike(builder, getSource()), getResult(), cotangents[0]);
  gradients[1] = scaled(builder, loc, sumOfProducts(builder, loc, getResult(), cotangents[0]), -1);
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
