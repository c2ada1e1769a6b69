//===- GradientFeaturePairs.cpp - Cotangents of attention over features -*- C++ -*-===//
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

static constexpr Role outputs[] = {Role::Batch, Role::Head, Role::Query, Role::Value};
static constexpr Role rows[] = {Role::Batch, Role::Head, Role::Query};

/// Of o = Σ_j w_j v_j / g, with δ_i = ⟨ō_i, o_i⟩:  v̄_j = Σ_i w_ij / g_i ō_i,  and of the logarithms of features Σ a b / g (⟨ō, v⟩ − δ).
SmallVector<Value> FeatureAttentionOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value output = cotangents[0];
  assert(output && !cotangents[1] && "lse is read by the gradient alone");
  ArrayRef<int64_t> a = shapeOf(getQuery()), b = shapeOf(getKey()), v = shapeOf(getValue());
  Value delta = contract(builder, loc, output, outputs, getOutput(), outputs, rows);
  Value ofSums = DenominatorGradientOp::create(builder, loc, delta.getType(), delta, getLse(), getGuardAttr(), builder.getUnitAttr());
  Value ofQueries = FeatureQueryGradientOp::create(builder, loc, typeLike(builder, getQuery()), getQuery(), getKey(), getValue(), getLse(), output,
                                                   ofSums, getLengths(), getCausalAttr(), getWindowAttr());
  auto ofKeys = FeatureKeyGradientsOp::create(builder, loc, f32Of(builder, {a[0], a[1], b[2], b[3]}), f32Of(builder, {a[0], a[1], b[2], v[3]}),
                                              getQuery(), getKey(), getValue(), getLse(), output, ofSums, getLengths(), getCausalAttr(),
                                              getWindowAttr());
  Gradients gradients(getNumOperands());
  gradients[0] = ofQueries, gradients[1] = sumHeads(builder, loc, ofKeys.getFeatures(), b[1]);
  gradients[2] = sumHeads(builder, loc, ofKeys.getValues(), v[1]);
  return gradients;
}
