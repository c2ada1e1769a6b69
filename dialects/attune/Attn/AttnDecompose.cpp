//===- AttnDecompose.cpp - Mechanisms as terms, by their definition -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plain decompositions: what a mechanism means, not how it is best computed. The laws of lib/Graph find the other
// forms.
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

static RankedTensorType f32Of(OpBuilder &builder, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, builder.getF32Type());
}

static ArrayAttr roles(OpBuilder &builder, ArrayRef<Role> list) {
  SmallVector<Attribute> attributes;
  for (Role role : list)
    attributes.push_back(RoleAttr::get(builder.getContext(), role));
  return builder.getArrayAttr(attributes);
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  ArrayRef<int64_t> o = shapeOf(getOutput());
  auto rows = f32Of(builder, o.drop_back());
  auto partial = SoftmaxPartialOp::create(builder, getLoc(), rows, rows, f32Of(builder, o), getQuery(), getKey(),
                                          getValue(), getLengths(), getScaleAttr(), getCausalAttr(),
                                          builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1));
  auto finish = SoftmaxFinishOp::create(builder, getLoc(), TypeRange{getOutput().getType(), rows}, partial.getMaximum(),
                                        partial.getSum(), partial.getAccumulator());
  SmallVector<Value> results{finish.getOutput()};
  if (getLse())
    results.push_back(finish.getLse());
  return results;
}

/// Terms that every form of kernel attention has: φ(Q) and φ(K).
static std::pair<Value, Value> buildMaps(OpBuilder &builder, KernelOp op) {
  auto map = [&](Value tokens, Value lengths) -> Value {
    ArrayRef<int64_t> x = shapeOf(tokens);
    auto type = f32Of(builder, {x[0], x[1], x[2], op.getFeatureMap().getFeatures(x[3])});
    return MapOp::create(builder, op.getLoc(), type, tokens, lengths, op.getParameter(), Value(), op.getFeatureMapAttr(),
                         /*keys=*/tokens == op.getKey() ? builder.getUnitAttr() : UnitAttr());
  };
  return {map(op.getQuery(), Value()), map(op.getKey(), op.getLengths())};
}

/// With an initial or a final state: causal readout, or state and readout.
static SmallVector<Value> decomposeWithState(OpBuilder &builder, KernelOp op, Value a, Value b) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> o = shapeOf(op.getOutput()), k = shapeOf(b), v = shapeOf(op.getValue());
  Type numeratorType = f32Of(builder, o), denominatorType = f32Of(builder, o.drop_back());
  Type stateType = f32Of(builder, {k[0], k[1], k[3], v[3]}), sumType = f32Of(builder, {k[0], k[1], k[3]});
  Value numerator, denominator, state, sum;
  if (op.getCausal()) {
    auto readout = CausalReadoutOp::create(builder, loc, numeratorType, denominatorType, stateType, sumType, a, b,
                                           op.getValue(), op.getLengths(), op.getInitialState(), op.getInitialSum());
    numerator = readout.getNumerator(), denominator = readout.getDenominator();
    state = readout.getState(), sum = readout.getSum();
  } else {
    auto stateOp = StateOp::create(builder, loc, stateType, sumType, b, op.getValue(), op.getLengths());
    auto readout = ReadoutOp::create(builder, loc, numeratorType, denominatorType, a, stateOp.getState(),
                                     stateOp.getSum());
    numerator = readout.getNumerator(), denominator = readout.getDenominator();
    state = stateOp.getState(), sum = stateOp.getSum();
  }
  Value output = NormalizeOp::create(builder, loc, op.getOutput().getType(), numerator, denominator,
                                     op.getDenominatorAttr());
  SmallVector<Value> results{output};
  if (op.getFinalState())
    results.append({state, sum});
  return results;
}

SmallVector<Value> KernelOp::decompose(OpBuilder &builder) {
  auto [a, b] = buildMaps(builder, *this);
  if (getInitialState() || getFinalState())
    return decomposeWithState(builder, *this, a, b);
  ArrayRef<int64_t> o = shapeOf(getOutput()), k = shapeOf(b);
  auto weightsType = f32Of(builder, {o[0], o[1], o[2], k[2]});
  Value weights = ContractOp::create(builder, getLoc(), weightsType, a, b,
                                     roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Feature}),
                                     roles(builder, {Role::Batch, Role::Head, Role::Key, Role::Feature}),
                                     roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Key}));
  if (getCausal() || getLengths() || getWindow())
    weights = VisibleOp::create(builder, getLoc(), weightsType, weights, getLengths(), getCausalAttr(), getWindowAttr());
  Value numerator = ContractOp::create(builder, getLoc(), f32Of(builder, o), weights, getValue(),
                                       roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Key}),
                                       roles(builder, {Role::Batch, Role::Head, Role::Key, Role::Value}),
                                       roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Value}));
  Value denominator = RowSumOp::create(builder, getLoc(), f32Of(builder, o.drop_back()), weights);
  return {NormalizeOp::create(builder, getLoc(), getOutput().getType(), numerator, denominator, getDenominatorAttr())};
}
