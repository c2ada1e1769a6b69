//===- Partition.cpp - What fuses: from terms to families -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Partition.h"

#include "attune/Attn/MapAlone.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

template <typename Op> static Op definingOp(Value value) {
  return value ? value.getDefiningOp<Op>() : Op();
}

/// a = φ(Q), b = φ(K) with one map.
static LogicalResult matchMaps(Value queryFeatures, Value keyFeatures, Partition &result) {
  auto a = definingOp<attn::MapOp>(queryFeatures), b = definingOp<attn::MapOp>(keyFeatures);
  if (!a || !b || a.getFeatureMap() != b.getFeatureMap() || a.getLengths())
    return failure();
  result.query = a.getSource();
  result.key = b.getSource();
  result.lengths = b.getLengths();
  result.map = a.getFeatureMapAttr();
  result.mapsAlone = attn::isMappedAlone(b);
  result.parameter = a.getParameter(), result.shift = b.getShift();
  bool perToken = result.map.getKind() != attn::FeatureKind::Softmax && result.map.getKind() != attn::FeatureKind::TensorSquare;
  return success(perToken && a.getParameter() == b.getParameter());
}

/// num = W V, den = W 1, W = [visible] a bᵀ.
static LogicalResult matchQuadratic(attn::NormalizeOp root, Partition &result) {
  auto mix = definingOp<attn::ContractOp>(root.getNumerator());
  auto sum = definingOp<attn::RowSumOp>(root.getDenominator());
  if (!mix || !sum || mix.getLhs() != sum.getWeights())
    return failure();
  Value weights = sum.getWeights();
  if (auto visible = definingOp<attn::VisibleOp>(weights)) {
    result.causal = visible.getCausal();
    result.window = visible.getWindowAttr();
    weights = visible.getWeights();
  }
  auto pairs = definingOp<attn::ContractOp>(weights);
  result.form = attn::Form::Quadratic;
  result.value = mix.getRhs();
  return pairs ? matchMaps(pairs.getLhs(), pairs.getRhs(), result) : failure();
}

/// num, den = readout(a, state(b, V)).
static LogicalResult matchState(attn::NormalizeOp root, Partition &result) {
  auto readout = definingOp<attn::ReadoutOp>(root.getNumerator());
  if (!readout || readout.getDenominator() != root.getDenominator())
    return failure();
  auto state = definingOp<attn::StateOp>(readout.getState());
  if (!state || state.getSum() != readout.getSum())
    return failure();
  result.form = attn::Form::State;
  result.fused = readout->hasAttr("attn.fused"), result.merged = readout->hasAttr("attn.merged");
  result.value = state.getValue();
  result.finalState = state.getState(), result.finalSum = state.getSum();
  return matchMaps(readout.getFeatures(), state.getFeatures(), result);
}

/// num, den = causal_readout(a, b, V).
static LogicalResult matchChunked(attn::NormalizeOp root, Partition &result) {
  auto readout = definingOp<attn::CausalReadoutOp>(root.getNumerator());
  if (!readout || readout.getDenominator() != root.getDenominator())
    return failure();
  result.form = attn::Form::Chunked;
  result.grouped = readout.getGrouped(), result.split = readout->hasAttr("attn.split");
  result.causal = true;
  result.value = readout.getValue();
  result.initialState = readout.getInitialState();
  result.initialSum = readout.getInitialSum();
  result.finalState = readout.getState(), result.finalSum = readout.getSum();
  return matchMaps(readout.getQueryFeatures(), readout.getKeyFeatures(), result);
}

static LogicalResult matchSoftmax(attn::SoftmaxOp op, Partition &result) {
  result.form = attn::Form::Online;
  result.query = op.getQuery(), result.key = op.getKey(), result.value = op.getValue();
  result.lengths = op.getLengths();
  result.scale = op.getScale().convertToDouble();
  result.causal = op.getCausal();
  result.window = op.getWindowAttr();
  result.lse = op.getLse();
  result.split = op->hasAttr("attn.split");
  return success();
}

std::optional<Partition> kernel::partition(Operation *root) {
  Partition result{};
  if (auto softmax = dyn_cast<attn::SoftmaxOp>(root))
    return succeeded(matchSoftmax(softmax, result)) ? std::optional(result) : std::nullopt;
  auto normalize = dyn_cast<attn::NormalizeOp>(root);
  if (!normalize || !normalize.getDenominator())
    return std::nullopt;
  result.guard = normalize.getGuardAttr();
  for (auto match : {matchQuadratic, matchState, matchChunked})
    if (succeeded(match(normalize, result)))
      return result;
  return std::nullopt;
}
