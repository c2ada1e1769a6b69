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

SmallVector<Value> PolynomialOp::decompose(OpBuilder &builder) {
  Value weights =
      buildPower(builder, getLoc(), getQuery(), getKey(), static_cast<int64_t>(getDegree()), getScaleAttr());
  weights = buildVisible(builder, getLoc(), weights, {getLengths(), getCausalAttr(), getWindowAttr(), getLastAttr()});
  return {buildNormalized(builder, getLoc(), weights, getValue(), getDenominatorAttr(), getOutput().getType())};
}

double PolynomialOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  return s.ofAll(s.pairs(getWindow(), getLast(), s.d));
}
