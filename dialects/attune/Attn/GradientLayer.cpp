//===- GradientLayer.cpp - Cotangents of what stands around a mechanism in a layer -*- C++ -*-===//
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

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

static Value transposed(OpBuilder &builder, Location loc, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  return TransposeOp::create(builder, loc, RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType()), matrix);
}

/// x̄ = ȳ Wᵀ, W̄ = xᵀ ȳ, bias: the sum over tokens.
SmallVector<Value> ProjectOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Gradients gradients{ProjectOutputOp::create(builder, loc, typeLike(builder, getSource()), cotangents[0], transposed(builder, loc, getWeight()),
                                           /*bias=*/Value(), /*execution=*/{}),
                   WeightGradientOp::create(builder, loc, typeLike(builder, getWeight()), cotangents[0], getSource(), /*output=*/UnitAttr())};
  if (getBias())
    gradients.push_back(TokenSumOp::create(builder, loc, typeLike(builder, getBias()), cotangents[0]));
  return gradients;
}

SmallVector<Value> ProjectOutputOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Gradients gradients{ProjectOp::create(builder, loc, typeLike(builder, getSource()), cotangents[0], transposed(builder, loc, getWeight()),
                                     /*bias=*/Value(), /*execution=*/{}),
                   WeightGradientOp::create(builder, loc, typeLike(builder, getWeight()), getSource(), cotangents[0], builder.getUnitAttr())};
  if (getBias())
    gradients.push_back(TokenSumOp::create(builder, loc, typeLike(builder, getBias()), cotangents[0]));
  return gradients;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

SmallVector<Value> RopeOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients(getNumOperands());
  gradients[0] = RopeGradientOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getAligned(), getBaseAttr(), getHalfAttr());
  return gradients;
}

SmallVector<Value> QkNormOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  return {QkNormGradientOp::create(builder, getLoc(), typeLike(builder, getSource()), getSource(), cotangents[0], getEpsilonAttr(), getL2Attr())};
}

/// y = E x: x̄ = Eᵀ ȳ, Ē = ȳ xᵀ over batch and the heads that share E. Tokens that do not exist stay out of both.
SmallVector<Value> CompressOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  const Role slots[] = {Role::Batch, Role::Head, Role::Query, Role::Feature}, tokens[] = {Role::Batch, Role::Head, Role::Key, Role::Feature};
  const Role weights[] = {Role::Head, Role::Query, Role::Key};
  Location loc = getLoc();
  Value source = contract(builder, loc, cotangents[0], slots, getWeight(), weights, tokens);
  Value there = existing(builder, loc, getSource(), getLengths());
  Value weight = contract(builder, loc, cotangents[0], slots, there, tokens, weights);
  Gradients gradients(getNumOperands());
  gradients[0] = existing(builder, loc, source, getLengths());
  gradients[1] = sumHeads(builder, loc, weight, shapeOf(getWeight())[0], /*parameter=*/true);
  return gradients;
}

SmallVector<Value> LepeOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  ArrayRef<int64_t> c = shapeOf(getResult());
  auto op = LepeGradientOp::create(builder, getLoc(), typeLike(builder, getValue()), typeLike(builder, getWeight()), f32Of(builder, {c[1], c[3]}),
                                   cotangents[0], getValue(), getWeight(), getLengths(), getGridAttr(), getWindowAttr());
  Gradients gradients(getNumOperands());
  gradients[0] = cotangents[0], gradients[1] = op.getValueGradient(), gradients[2] = op.getWeightGradient();
  if (getBias())
    gradients[3] = op.getBiasGradient();
  return gradients;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

SmallVector<Value> TakeHeadsOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  return {PlaceHeadsOp::create(builder, getLoc(), typeLike(builder, getSource()), cotangents[0], getFirstAttr())};
}

SmallVector<Value> RepeatHeadsOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  return {sumHeads(builder, getLoc(), cotangents[0], shapeOf(getSource())[1])};
}

SmallVector<Value> ConcatHeadsOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Gradients gradients;
  int64_t first = 0;
  for (Value part : getParts()) {
    gradients.push_back(TakeHeadsOp::create(builder, getLoc(), typeLike(builder, part), cotangents[0], builder.getI64IntegerAttr(first)));
    first += shapeOf(part)[1];
  }
  return gradients;
}
