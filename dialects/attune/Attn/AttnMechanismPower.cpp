//===- AttnMechanismPower.cpp - Polynomial attention as terms, and what it needs -*- C++ -*-===//
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

bool terms::isQuotient(DenominatorAttr guard) { return !guard.getNone() && guard.getBias() == 0 && guard.getFloor() == 0; }

Value terms::buildInUnits(OpBuilder &builder, Location loc, Value rows, Value columns, const Sight &sight) {
  Value products = buildVisible(builder, loc, buildWeights(builder, loc, rows, columns), sight);
  Value unit = RowMaximumOp::create(builder, loc, f32Of(builder, shapeOf(products).drop_back()), products);
  auto type = f32Of(builder, shapeOf(rows));
  if (rows.getType() != type)
    rows = ScaleOp::create(builder, loc, type, rows, builder.getF64FloatAttr(1));
  return NormalizeOp::create(builder, loc, type, rows, unit, DenominatorAttr::get(builder.getContext(), 0.0, 0.0));
}

static Sight sightOf(PolynomialOp op) { return {op.getLengths(), op.getCausalAttr(), op.getWindowAttr(), op.getLastAttr()}; }

static Value attend(OpBuilder &builder, PolynomialOp op, Value query, FloatAttr scale) {
  Value weights = buildPower(builder, op.getLoc(), query, op.getKey(), static_cast<int64_t>(op.getDegree()), scale);
  weights = buildVisible(builder, op.getLoc(), weights, sightOf(op));
  return buildNormalized(builder, op.getLoc(), weights, op.getValue(), op.getDenominatorAttr(), op.getOutput().getType());
}

SmallVector<Value> PolynomialOp::decompose(OpBuilder &builder) { return {attend(builder, *this, getQuery(), getScaleAttr())}; }

SmallVector<Value> PolynomialOp::decomposeInUnits(OpBuilder &builder) {
  if (!isQuotient(getDenominator()))
    return decompose(builder);
  return {attend(builder, *this, buildInUnits(builder, getLoc(), getQuery(), getKey(), sightOf(*this)), builder.getF64FloatAttr(1))};
}

double PolynomialOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  return s.ofAll(s.pairs(getWindow(), getLast(), s.d));
}
