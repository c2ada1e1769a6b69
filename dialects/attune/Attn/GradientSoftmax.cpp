//===- GradientSoftmax.cpp - Cotangents of softmax attention -*- C++ -*-===//
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

static constexpr Role pairs[] = {Role::Batch, Role::Head, Role::Query, Role::Key};
static constexpr Role queries[] = {Role::Batch, Role::Head, Role::Query, Role::Feature};
static constexpr Role keys[] = {Role::Batch, Role::Head, Role::Key, Role::Feature};
static constexpr Role values[] = {Role::Batch, Role::Head, Role::Key, Role::Value};
static constexpr Role outputs[] = {Role::Batch, Role::Head, Role::Query, Role::Value};
static constexpr Role rows[] = {Role::Batch, Role::Head, Role::Query};

/// S̄ = P ⊙ (ō Vᵀ − δ + l̄), δ_i = ⟨ō_i, o_i⟩; the cotangents of o or of lse may be null.
static Value logitGradient(OpBuilder &builder, SoftmaxOp op, Value weights, Value output, Value lse) {
  Location loc = op.getLoc();
  Value inner, row = lse;
  if (output) {
    inner = contract(builder, loc, output, outputs, op.getValue(), values, pairs);
    Value delta = contract(builder, loc, output, outputs, op.getOutput(), outputs, rows);
    row = sum(builder, loc, scaled(builder, loc, delta, -1), lse);
  }
  Value all = sum(builder, loc, inner, spread(builder, loc, row, rows, weights, pairs));
  return MultiplyOp::create(builder, loc, typeLike(builder, weights), weights, all);
}

/// With the results of an op that has `lse`.
SmallVector<Value> SoftmaxOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value output = cotangents[0], lse = cotangents.size() > 1 ? cotangents[1] : Value();
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey());
  Value weights = SoftmaxWeightsOp::create(builder, loc, f32Of(builder, {q[0], q[1], q[2], k[2]}), getQuery(), getKey(), getLse(), getLengths(),
                                           getSlopes(), getScaleAttr(), getCausalAttr(), getWindowAttr(), getLastAttr(), getSoftcapAttr());
  Value logits = logitGradient(builder, *this, weights, output, lse);
  Gradients gradients(getNumOperands());
  if (getSlopes())
    gradients[getSlopesMutable().begin()->getOperandNumber()] = scaled(
        builder, loc, DistanceSumsOp::create(builder, loc, typeLike(builder, getSlopes()), logits), -1);
  if (getSoftcap()) {
    Value products = contract(builder, loc, getQuery(), queries, getKey(), keys, pairs);
    logits = SoftcapGradientOp::create(builder, loc, logits.getType(), products, logits, getScaleAttr(), getSoftcapAttr());
  }
  double scale = getScale().convertToDouble();
  auto shared = [&](Value gradient) { return sumHeads(builder, loc, gradient, k[1]); };
  gradients[0] = scaled(builder, loc, contract(builder, loc, logits, pairs, getKey(), keys, queries), scale);
  gradients[1] = scaled(builder, loc, shared(contract(builder, loc, logits, pairs, getQuery(), queries, keys)), scale);
  if (output)
    gradients[2] = shared(contract(builder, loc, weights, pairs, output, outputs, values));
  return gradients;
}
