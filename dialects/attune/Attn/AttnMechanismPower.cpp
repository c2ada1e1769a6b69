//===- AttnMechanismPower.cpp - Polynomial attention as terms, and what it needs -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnTerms.h"
#include "UsefulOperations.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::terms;

double terms::leastUnit(DenominatorAttr guard, double degree, double scale) {
  constexpr double lostByRounding = 0x1p48, most = 0x1p90; // in f64 too, which the interpreter has
  constexpr double exponents = 100;                        // that f32 holds, and of what is multiplied with it
  double held = std::max(guard.getBias(), guard.getFloor()), weight = std::clamp(held * lostByRounding, lostByRounding, most);
  double exponent = std::ceil(std::log2(weight) / degree - std::log2(scale));
  return held == 0 ? 0 : std::exp2(std::clamp(exponent, -exponents, exponents));
}

Value terms::buildUnit(OpBuilder &builder, Location loc, Value weights, const Sight &sight, int64_t root) {
  weights = buildVisible(builder, loc, weights, sight);
  return RowMaximumOp::create(builder, loc, f32Of(builder, shapeOf(weights).drop_back()), weights, builder.getI64IntegerAttr(root));
}

Value terms::buildInUnits(OpBuilder &builder, Location loc, Value rows, Value columns, const Sight &sight, double least) {
  return buildDivided(builder, loc, rows, buildUnit(builder, loc, buildWeights(builder, loc, rows, columns), sight), least);
}

Value terms::buildDivided(OpBuilder &builder, Location loc, Value rows, Value unit, double least) {
  auto type = f32Of(builder, shapeOf(rows));
  if (rows.getType() != type)
    rows = ScaleOp::create(builder, loc, type, rows, builder.getF64FloatAttr(1));
  Value divided = NormalizeOp::create(builder, loc, type, rows, unit, DenominatorAttr::get(builder.getContext(), 0.0, least));
  return least == 0 ? divided : ScaleOp::create(builder, loc, type, divided, builder.getF64FloatAttr(least));
}

static Sight sightOf(PolynomialOp op) { return {op.getLengths(), op.getCausalAttr(), op.getWindowAttr(), op.getLastAttr()}; }

static Value attend(OpBuilder &builder, PolynomialOp op, Value query, FloatAttr scale) {
  Value weights = buildPower(builder, op.getLoc(), query, op.getKey(), static_cast<int64_t>(op.getDegree()), scale);
  weights = buildVisible(builder, op.getLoc(), weights, sightOf(op));
  return buildNormalized(builder, op.getLoc(), weights, op.getValue(), op.getDenominatorAttr(), op.getOutput().getType());
}

SmallVector<Value> PolynomialOp::decompose(OpBuilder &builder) { return {attend(builder, *this, getQuery(), getScaleAttr())}; }

SmallVector<Value> PolynomialOp::decomposeInUnits(OpBuilder &builder) {
  if (getDenominator().getNone())
    return decompose(builder);
  double least = leastUnit(getDenominator(), static_cast<double>(getDegree()), getScale().convertToDouble());
  Value query = buildInUnits(builder, getLoc(), getQuery(), getKey(), sightOf(*this), least);
  return {attend(builder, *this, query, least == 0 ? builder.getF64FloatAttr(1) : getScaleAttr())};
}

double PolynomialOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  return s.ofAll(s.pairs(getWindow(), getLast(), s.d));
}
