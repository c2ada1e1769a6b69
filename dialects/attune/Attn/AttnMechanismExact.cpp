//===- AttnMechanismExact.cpp - Softmax attention as terms and what it needs; terms that mechanisms share -*- C++ -*-===//
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

static ArrayAttr roles(OpBuilder &builder, ArrayRef<Role> list) {
  SmallVector<Attribute> attributes;
  for (Role role : list)
    attributes.push_back(RoleAttr::get(builder.getContext(), role));
  return builder.getArrayAttr(attributes);
}

Value terms::buildWeights(OpBuilder &builder, Location loc, Value rows, Value columns) {
  ArrayRef<int64_t> a = shapeOf(rows), b = shapeOf(columns);
  return ContractOp::create(builder, loc, f32Of(builder, {a[0], a[1], a[2], b[2]}), rows, columns,
                            roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Feature}),
                            roles(builder, {Role::Batch, Role::Head, Role::Key, Role::Feature}),
                            roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Key}));
}

Value terms::buildVisible(OpBuilder &builder, Location loc, Value weights, const Sight &sight) {
  if (!sight.causal && !sight.lengths && !sight.window)
    return weights;
  return VisibleOp::create(builder, loc, weights.getType(), weights, sight.lengths, sight.causal, sight.window, sight.last);
}

Value terms::buildNormalized(OpBuilder &builder, Location loc, Value weights, Value value, DenominatorAttr guard,
                             Type output) {
  ArrayRef<int64_t> w = shapeOf(weights), v = shapeOf(value);
  Value numerator = ContractOp::create(builder, loc, f32Of(builder, {w[0], w[1], w[2], v[3]}), weights, value,
                                       roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Key}),
                                       roles(builder, {Role::Batch, Role::Head, Role::Key, Role::Value}),
                                       roles(builder, {Role::Batch, Role::Head, Role::Query, Role::Value}));
  Value denominator = guard.getNone() ? Value() : RowSumOp::create(builder, loc, f32Of(builder, w.drop_back()), weights);
  return NormalizeOp::create(builder, loc, output, numerator, denominator, guard);
}

SoftmaxFinishOp terms::buildSoftmax(OpBuilder &builder, Location loc, ValueRange qkv, const Sight &sight, const Logits &logits,
                                    Type output) {
  ArrayRef<int64_t> q = shapeOf(qkv[0]), v = shapeOf(qkv[2]);
  auto rows = f32Of(builder, q.drop_back());
  auto partial = SoftmaxPartialOp::create(builder, loc, rows, rows, f32Of(builder, {q[0], q[1], q[2], v[3]}), qkv[0], qkv[1], qkv[2],
                                          sight.lengths, logits.slopes, logits.scale, sight.causal,
                                          builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1), sight.window, sight.last,
                                          logits.softcap);
  return SoftmaxFinishOp::create(builder, loc, TypeRange{output, rows}, partial.getMaximum(), partial.getSum(),
                                 partial.getAccumulator());
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  auto finish = buildSoftmax(builder, getLoc(), {getQuery(), getKey(), getValue()},
                             {getLengths(), getCausalAttr(), getWindowAttr(), getLastAttr()},
                             {getScaleAttr(), getSoftcapAttr(), getSlopes()}, getOutput().getType());
  SmallVector<Value> results{finish.getOutput()};
  if (getLse())
    results.push_back(finish.getLse());
  return results;
}

double SoftmaxOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  return s.ofAll(s.pairs(getWindow(), getLast(), s.d));
}
