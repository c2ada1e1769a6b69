//===- AttnMechanismPower.cpp - Polynomial attention and sketches of it as terms, and what they need -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnTerms.h"
#include "UsefulOperations.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::terms;

/// (scale · ⟨q_i, k_j⟩)^degree.
static Value buildPower(OpBuilder &builder, Location loc, Value rows, Value columns, int64_t degree, FloatAttr scale) {
  Value weights = buildWeights(builder, loc, rows, columns);
  return PowerOp::create(builder, loc, weights.getType(), weights, builder.getI64IntegerAttr(degree), scale);
}

SmallVector<Value> PolynomialOp::decompose(OpBuilder &builder) {
  Value weights =
      buildPower(builder, getLoc(), getQuery(), getKey(), static_cast<int64_t>(getDegree()), getScaleAttr());
  weights = buildVisible(builder, getLoc(), weights, {getLengths(), getCausalAttr(), getWindowAttr(), getLastAttr()});
  return {buildNormalized(builder, getLoc(), weights, getValue(), getDenominatorAttr(), getOutput().getType())};
}

SmallVector<Value> PolysketchOp::decompose(OpBuilder &builder) {
  if (hasStates()) // no term squares a sketch outside of pairs
    return {};
  Location loc = getLoc();
  FloatAttr one = builder.getF64FloatAttr(1.0);
  auto sketch = [&](Value tokens, FloatAttr scale) -> Value {
    ArrayRef<int64_t> x = shapeOf(tokens);
    auto type = f32Of(builder, {x[0], shapeOf(getQuery())[1], x[2], static_cast<int64_t>(getSize())});
    return SketchOp::create(builder, loc, type, tokens, getSigns(), getIndices(), getSizeAttr(), scale);
  };
  Value rows = sketch(getQuery(), getScaleAttr()), columns = sketch(getKey(), one);
  Value weights = buildPower(builder, loc, rows, columns, /*degree=*/2, one);
  if (getLocalExact()) {
    Value exact = buildPower(builder, loc, getQuery(), getKey(), static_cast<int64_t>(getDegree()), getScaleAttr());
    weights = DiagonalBlocksOp::create(builder, loc, weights.getType(), exact, weights, getLocalExactAttr());
  }
  weights = buildVisible(builder, loc, weights, {getLengths(), getCausalAttr()});
  return {buildNormalized(builder, loc, weights, getValue(), getDenominatorAttr(), getOutput().getType())};
}

double PolynomialOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  return s.ofAll(s.pairs(getWindow(), getLast(), s.d));
}

/// The sketch of a row: half the degree leaves of d × r, then products of two r × r. Its square has r (r + 1) / 2
/// different features. In blocks of so many tokens weights are exact, d wide. The keys of a group are sketched for each
/// query head.
double PolysketchOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  s.shared = 1;
  double r = static_cast<double>(getSize()), leaves = static_cast<double>(getDegree()) / 2;
  double block = static_cast<double>(getLocalExact().value_or(0));
  double sketches = (s.n + s.N) * (leaves * s.d * r + (leaves - 1) * 2 * r * r);
  double inside = s.n * block / 2 * (s.d + s.dv + 1);
  double outside = s.pairs(s.N, r) - s.n * block / 2 * (r + s.dv);
  return s.ofAll(sketches + inside + std::min(s.states(r * (r + 1) / 2), outside));
}
