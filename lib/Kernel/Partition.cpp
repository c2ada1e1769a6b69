//===- Partition.cpp - What fuses: from terms to families -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Partition.h"

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
  return success(result.map.getKind() == attn::FeatureKind::Elu1);
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
  result.value = state.getValue();
  return matchMaps(readout.getFeatures(), state.getFeatures(), result);
}

/// num, den = causal_readout(a, b, V).
static LogicalResult matchChunked(attn::NormalizeOp root, Partition &result) {
  auto readout = definingOp<attn::CausalReadoutOp>(root.getNumerator());
  if (!readout || readout.getDenominator() != root.getDenominator())
    return failure();
  result.form = attn::Form::Chunked;
  result.causal = true;
  result.value = readout.getValue();
  result.initialState = readout.getInitialState();
  result.initialSum = readout.getInitialSum();
  return matchMaps(readout.getQueryFeatures(), readout.getKeyFeatures(), result);
}

static LogicalResult matchSoftmax(attn::SoftmaxOp op, Partition &result) {
  result.form = attn::Form::Online;
  result.query = op.getQuery(), result.key = op.getKey(), result.value = op.getValue();
  result.lengths = op.getLengths();
  result.scale = op.getScale().convertToDouble();
  result.causal = op.getCausal();
  result.lse = static_cast<bool>(op.getLse());
  return success();
}

static LogicalResult matchRoot(Operation *root, Partition &result) {
  if (auto softmax = dyn_cast_or_null<attn::SoftmaxOp>(root))
    return matchSoftmax(softmax, result);
  auto normalize = dyn_cast_or_null<attn::NormalizeOp>(root);
  if (!normalize)
    return failure();
  result.guard = normalize.getGuardAttr();
  return success(succeeded(matchQuadratic(normalize, result)) || succeeded(matchState(normalize, result)) ||
                 succeeded(matchChunked(normalize, result)));
}

/// Every tensor that a kernel reads is an argument of the function.
static LogicalResult checkArguments(func::FuncOp function, const Partition &result) {
  for (Value value : {result.query, result.key, result.value, result.lengths, result.initialState, result.initialSum})
    if (value && !isa<BlockArgument>(value))
      return function.emitError() << "expected attention of the function's arguments, but got the result of "
                                  << value.getDefiningOp()->getName() << " (not supported yet)";
  return success();
}

FailureOr<Partition> kernel::partition(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  if (terminator->getNumOperands() == 0)
    return function.emitError() << "expected a function that returns an attention output, but got no results";
  Operation *root = terminator->getOperand(0).getDefiningOp();
  Partition result{};
  if (failed(matchRoot(root, result))) {
    Operation *place = root ? root : function.getOperation();
    return place->emitError() << "expected attn.softmax, or a kernel attention in quadratic, state or chunked form, as "
                                 "the first result (run attn-select-rewrites first)";
  }
  // The optional results follow the output: lse, or state and sum.
  unsigned extra = terminator->getNumOperands() - 1;
  if (result.form == attn::Form::Online ? extra != (result.lse ? 1 : 0) : (extra != 0 && extra != 2))
    return function.emitError() << "expected the output and its optional results, but got "
                                << terminator->getNumOperands() << " results";
  result.finalState = result.form != attn::Form::Online && extra == 2;
  if (failed(checkArguments(function, result)))
    return failure();
  return result;
}
