//===- AttnMechanismBlocked.cpp - EFFATT, agents and EVA as terms, and what they need -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnTerms.h"
#include "Backward.h"
#include "UsefulOperations.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::terms;

SequenceWeightsOp SequenceSoftmaxOp::replaceByWeights() {
  OpBuilder builder(*this);
  ArrayRef<int64_t> k = shapeOf(getSource());
  Value lse = SequenceLseOp::create(builder, getLoc(), f32Of(builder, {k[0], k[1], k[3]}), getSource(), getLengths());
  auto weights = SequenceWeightsOp::create(builder, getLoc(), getResult().getType(), getSource(), lse, getLengths());
  getResult().replaceAllUsesWith(weights.getResult());
  erase();
  return weights;
}

void attune::attn::splitSequenceSoftmaxes(Block &block) {
  for (auto softmax : llvm::make_early_inc_range(block.getOps<SequenceSoftmaxOp>()))
    softmax.replaceByWeights();
}

SmallVector<Value> EffattOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  auto softmax = FeatureMapAttr::get(builder.getContext(), FeatureKind::Softmax);
  Value a = MapOp::create(builder, loc, f32Of(builder, q), getQuery(), /*lengths=*/Value(), /*parameter=*/Value(),
                          /*shift=*/Value(), /*position=*/Value(), softmax, /*keys=*/UnitAttr(), /*execution=*/{});
  auto softmaxOfKeys = SequenceSoftmaxOp::create(builder, loc, f32Of(builder, k), getKey(), getLengths());
  Value b = softmaxOfKeys, lse;
  if (getState()) {
    SequenceWeightsOp weights = softmaxOfKeys.replaceByWeights();
    b = weights, lse = weights.getLse();
  }
  auto state = StateOp::create(builder, loc, f32Of(builder, {k[0], k[1], k[3], v[3]}),
                               f32Of(builder, {k[0], k[1], k[3]}), b, getValue(), getLengths());
  auto readout = ReadoutOp::create(builder, loc, f32Of(builder, {q[0], q[1], q[2], v[3]}),
                                   f32Of(builder, q.drop_back()), a, state.getState(), state.getSum(), /*execution=*/{});
  // Both softmaxes have been divided by their sums: there is nothing left to normalise.
  auto guard = DenominatorAttr::get(builder.getContext(), 0.0, 0.0);
  SmallVector<Value> results{NormalizeOp::create(builder, loc, getOutput().getType(), readout.getNumerator(), Value(), guard)};
  if (getState())
    results.append({state.getState(), lse});
  return results;
}

SmallVector<Value> AgentOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  ArrayRef<int64_t> q = shapeOf(getQuery()), v = shapeOf(getValue());
  auto count = static_cast<int64_t>(getAgents());
  Value agents = PoolOp::create(builder, loc, f32Of(builder, {q[0], q[1], count, q[3]}), getQuery(), getAgentsAttr());
  Value read = buildSoftmax(builder, loc, {agents, getKey(), getValue()}, {getLengths()}, {getScaleAttr()},
                            f32Of(builder, {q[0], q[1], count, v[3]}))
                   .getOutput();
  auto outer = buildSoftmax(builder, loc, {getQuery(), agents, read}, /*sight=*/{}, {getScaleAttr()}, getOutput().getType());
  return SmallVector<Value>(outer->getResults().take_front(getNumResults()));
}

SmallVector<Value> EvaOp::decompose(OpBuilder &builder) {
  Location loc = getLoc();
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey()), v = shapeOf(getValue());
  // exclude_local says nothing without a local block.
  bool excludes = getExcludeLocal() && getLocal();
  int64_t rows = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(k[2]))
    rows = k[2] / static_cast<int64_t>(getChunk()) + (excludes ? 2 * (k[2] / static_cast<int64_t>(*getLocal())) : 0);
  auto summaries = EvaSummariesOp::create(
      builder, loc, f32Of(builder, {q[0], q[1], rows, q[3]}), f32Of(builder, {q[0], q[1], rows, v[3]}),
      f32Of(builder, {q[0], q[1], rows}), getQuery(), getKey(), getValue(), getLengths(), getChunkAttr(),
      excludes ? getLocalAttr() : IntegerAttr(), getMuWeightAttr(), getScaleAttr(), getMassAttr());
  auto mix = EvaMixOp::create(builder, loc, getOutput().getType(), getLse() ? getLse().getType() : Type(), getQuery(), getKey(), getValue(),
                              getLengths(), summaries.getMean(), summaries.getSummary(), summaries.getLogWeight(), getChunkAttr(), getLocalAttr(),
                              getScaleAttr(), excludes ? builder.getUnitAttr() : UnitAttr(), getCausalAttr());
  return SmallVector<Value>(mix->getResults());
}

//===----------------------------------------------------------------------===//
// Useful operations
//===----------------------------------------------------------------------===//

double EffattOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue());
  return s.ofAll((s.n + s.shared * s.N) * s.d * s.dv);
}

double AgentOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue());
  return s.ofAll((s.n + s.N) * static_cast<double>(getAgents()) * (s.d + s.dv));
}

/// In `local` keys of its own block and a mean of each chunk; then the means.
double EvaOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  double seen = static_cast<double>(getLocal().value_or(0)) + s.N / static_cast<double>(getChunk());
  return s.ofAll(s.blockPairs(seen, s.d) + s.N * (s.d + s.dv));
}
