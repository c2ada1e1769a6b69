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

/// x̄ = B ⊙ (ȳ − 1 Σ_j B_j ⊙ ȳ_j); tokens that do not exist have B = 0.
SmallVector<Value> SequenceSoftmaxOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  const Role tokens[] = {Role::Batch, Role::Head, Role::Key, Role::Feature}, features[] = {Role::Batch, Role::Head, Role::Feature};
  Location loc = getLoc();
  Type type = typeLike(builder, getSource());
  Value sums = contract(builder, loc, getResult(), tokens, cotangents[0], tokens, features);
  Value mean = spread(builder, loc, scaled(builder, loc, sums, -1), features, getResult(), tokens);
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

SmallVector<Value> EvaMixOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  int64_t heads = shapeOf(getQuery())[1], shared = shapeOf(getKey())[1];
  auto op = EvaMixGradientOp::create(builder, loc, typeLike(builder, getQuery()), perHead(builder, getKey(), heads),
                                     perHead(builder, getValue(), heads), getMean().getType(), getSummary().getType(), getQuery(), getKey(),
                                     getValue(), cotangents[0], getLengths(), getMean(), getSummary(), getLogWeight(), getChunkAttr(),
                                     getLocalAttr(), getScaleAttr(), getExcludeLocalAttr(), getCausalAttr());
  Gradients gradients(getNumOperands());
  gradients[0] = op.getQueryGradient();
  gradients[1] = sumHeads(builder, loc, op.getKeyGradient(), shared);
  gradients[2] = sumHeads(builder, loc, op.getValueGradient(), shared);
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
