//===- EvalKernelTerms.cpp - Feature maps, states, readouts, the division ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnFrame.h"
#include "Rows.h"

#include "attune/Reference/Attention.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// Tokens of a batch entry that exist; an error unless the lengths are [batch], each 0 … `tokens`.
static LogicalResult readLengths(AttnFrame &frame, Operation *op, mlir::Value lengths, const Array &tokens,
                                 std::vector<int64_t> &result) {
  result.assign(tokens.size(0), tokens.size(2));
  if (!lengths)
    return success();
  const Array &given = frame[lengths];
  if (failed(expectShape(op, "lengths", given, {tokens.size(0)})))
    return failure();
  for (int64_t b = 0; b < tokens.size(0); ++b) {
    double length = given({b});
    if (!(length >= 0 && length <= static_cast<double>(tokens.size(2))))
      return op->emitOpError() << "expected lengths from 0 to " << tokens.size(2) << ", but got " << length;
    result[b] = static_cast<int64_t>(length);
  }
  return success();
}

static LogicalResult evalMap(AttnFrame &frame, attn::MapOp op) {
  if (op.getFeatureMap().getKind() != attn::FeatureKind::Elu1)
    return op.emitOpError() << "expected the feature map elu1, but got another one (not supported yet)";
  const AttnValue &value = frame.get(op.getSource());
  const Array &source = value.array;
  std::vector<int64_t> lengths;
  if (failed(readLengths(frame, op, op.getLengths(), source, lengths)))
    return failure();
  int64_t width = source.size(3), features = op.getFeatureMap().getFeatures(width);
  Array result({source.size(0), source.size(1), source.size(2), features});
  std::vector<double> row(width);
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t t = 0; t < lengths[b]; ++t) {
        for (int64_t c = 0; c < width; ++c)
          row[c] = source({b, h, t, c});
        applyMap(op.getFeatureMap().getKind(), row.data(), width, result.at({b, h, t, 0}));
      }
  frame.set(op.getResult(), std::move(result), value.queries);
  return success();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// state += b vᵀ and sum += b, for the features b and the value v of one token.
static void addToken(const Array &features, const Array &value, int64_t b, int64_t g, int64_t token, Array &state,
                     Array &sum) {
  for (int64_t f = 0; f < features.size(3); ++f) {
    double feature = features({b, g, token, f});
    if (feature == 0) // then the value may be anything
      continue;
    addScaled(feature, Rows(value, b, g)[token], value.size(3), state.at({b, g, f, 0}));
    sum({b, g, f}) += feature;
  }
}

/// numerator = aᵀ S and denominator = ⟨a, z⟩ for the features a of one query.
static double readState(Row a, const Array &state, const Array &sum, int64_t b, int64_t g, double *numerator) {
  double denominator = 0;
  for (int64_t f = 0; f < state.size(2); ++f) {
    double feature = a.data[f * a.stride];
    addScaled(feature, Rows(state, b, g)[f], state.size(3), numerator);
    denominator += feature * sum({b, g, f});
  }
  return denominator;
}

static LogicalResult evalState(AttnFrame &frame, attn::StateOp op) {
  const Array &features = frame[op.getFeatures()], &value = frame[op.getValue()];
  std::vector<int64_t> lengths;
  if (failed(readLengths(frame, op, op.getLengths(), features, lengths)) ||
      failed(expectShape(op, "value", value, {features.size(0), features.size(1), features.size(2), value.size(3)})))
    return failure();
  Array state({features.size(0), features.size(1), features.size(3), value.size(3)});
  Array sum({features.size(0), features.size(1), features.size(3)});
  for (int64_t b = 0; b < features.size(0); ++b)
    for (int64_t g = 0; g < features.size(1); ++g)
      for (int64_t token = 0; token < lengths[b]; ++token)
        addToken(features, value, b, g, token, state, sum);
  frame.set(op.getState(), std::move(state));
  frame.set(op.getSum(), std::move(sum));
  return success();
}

static LogicalResult evalStateMerge(AttnFrame &frame, attn::StateMergeOp op) {
  auto add = [&](mlir::Value first, mlir::Value second, mlir::Value result) -> LogicalResult {
    if (failed(expectShape(op, "the second side", frame[second], frame[first].shape())))
      return failure();
    std::vector<double> elements = frame[first].elements();
    for (auto [element, other] : llvm::zip_equal(elements, frame[second].elements()))
      element += other;
    frame.set(result, makeArray(frame[first].shape(), elements));
    return success();
  };
  return success(succeeded(add(op.getFirstState(), op.getSecondState(), op.getState())) &&
                 succeeded(add(op.getFirstSum(), op.getSecondSum(), op.getSum())));
}

static LogicalResult checkHeads(Operation *op, int64_t heads, int64_t shared) {
  if (shared > 0 && heads % shared == 0)
    return success();
  return op->emitOpError() << "expected a number of key-value heads that divides " << heads << ", but got " << shared;
}

static LogicalResult evalReadout(AttnFrame &frame, attn::ReadoutOp op) {
  AttnValue chosen = frame.chosen(op.getFeatures());
  const Array &features = chosen.array, &state = frame[op.getState()], &sum = frame[op.getSum()];
  int64_t batch = features.size(0), heads = features.size(1), shared = state.size(1);
  if (failed(checkHeads(op, heads, shared)) ||
      failed(expectShape(op, "state", state, {batch, shared, features.size(3), state.size(3)})) ||
      failed(expectShape(op, "sum", sum, state.shape().drop_back())))
    return failure();
  Array numerator({batch, heads, features.size(2), state.size(3)}), denominator({batch, heads, features.size(2)});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < features.size(2); ++i)
        denominator({b, h, i}) = readState(Rows(features, b, h)[i], state, sum, b, h * shared / heads,
                                           numerator.at({b, h, i, 0}));
  frame.set(op.getNumerator(), std::move(numerator), chosen.queries);
  frame.set(op.getDenominator(), std::move(denominator), chosen.queries);
  return success();
}

//===----------------------------------------------------------------------===//
// The causal readout
//===----------------------------------------------------------------------===//

static LogicalResult checkCausal(AttnFrame &frame, attn::CausalReadoutOp op, const Array &a, const Array &b) {
  const Array &value = frame[op.getValue()];
  SmallVector<int64_t> sum{b.size(0), b.size(1), b.size(3)}, state = sum;
  state.push_back(value.size(3));
  if (failed(checkHeads(op, a.size(1), b.size(1))) ||
      failed(expectShape(op, "key features", b, {a.size(0), b.size(1), a.size(2), a.size(3)})) ||
      failed(expectShape(op, "value", value, {b.size(0), b.size(1), b.size(2), value.size(3)})))
    return failure();
  if (!op.getInitialState())
    return success();
  if (failed(expectShape(op, "initial state", frame[op.getInitialState()], state)))
    return failure();
  return expectShape(op, "initial sum", frame[op.getInitialSum()], sum);
}

static LogicalResult evalCausalReadout(AttnFrame &frame, attn::CausalReadoutOp op) {
  const Array &a = frame[op.getQueryFeatures()], &b = frame[op.getKeyFeatures()], &value = frame[op.getValue()];
  std::vector<int64_t> lengths;
  if (failed(checkCausal(frame, op, a, b)) || failed(readLengths(frame, op, op.getLengths(), b, lengths)))
    return failure();
  int64_t batch = a.size(0), heads = a.size(1), shared = b.size(1);
  Array state({batch, shared, b.size(3), value.size(3)}), sum({batch, shared, b.size(3)});
  if (op.getInitialState()) {
    state = makeArray(state.shape(), frame[op.getInitialState()].elements());
    sum = makeArray(sum.shape(), frame[op.getInitialSum()].elements());
  }
  Array numerator({batch, heads, a.size(2), value.size(3)}), denominator({batch, heads, a.size(2)});
  for (int64_t entry = 0; entry < batch; ++entry)
    for (int64_t token = 0; token < a.size(2); ++token) {
      for (int64_t g = 0; g < shared && token < lengths[entry]; ++g)
        addToken(b, value, entry, g, token, state, sum);
      for (int64_t h = 0; h < heads; ++h)
        denominator({entry, h, token}) = readState(Rows(a, entry, h)[token], state, sum, entry, h * shared / heads,
                                                   numerator.at({entry, h, token, 0}));
    }
  std::optional<int64_t> queries;
  if (frame.options.rows) {
    queries = a.size(2);
    numerator = selectRows(numerator, *frame.options.rows);
    denominator = selectRows(denominator, *frame.options.rows);
  }
  frame.set(op.getNumerator(), std::move(numerator), queries);
  frame.set(op.getDenominator(), std::move(denominator), queries);
  frame.set(op.getState(), std::move(state));
  frame.set(op.getSum(), std::move(sum));
  return success();
}

static LogicalResult evalNormalize(AttnFrame &frame, attn::NormalizeOp op) {
  const AttnValue &value = frame.get(op.getNumerator());
  if (!op.getDenominator()) {
    frame.set(op.getOutput(), value.array, value.queries);
    return success();
  }
  const Array &numerator = value.array, &denominator = frame[op.getDenominator()];
  if (failed(expectShape(op, "denominator", denominator, numerator.shape().drop_back())))
    return failure();
  Array output(numerator.shape());
  std::vector<double> numerators = numerator.elements(), denominators = denominator.elements();
  int64_t width = numerator.size(3);
  for (int64_t i = 0; i < output.count(); ++i)
    output.element(i) =
        guardedQuotient(numerators[i], denominators[i / width], op.getGuard().getBias(), op.getGuard().getFloor());
  frame.set(op.getOutput(), std::move(output), value.queries);
  return success();
}

std::optional<LogicalResult> attune::reference::evalKernelTerm(AttnFrame &frame, Operation &op) {
  if (auto map = dyn_cast<attn::MapOp>(op))
    return evalMap(frame, map);
  if (auto state = dyn_cast<attn::StateOp>(op))
    return evalState(frame, state);
  if (auto merge = dyn_cast<attn::StateMergeOp>(op))
    return evalStateMerge(frame, merge);
  if (auto readout = dyn_cast<attn::ReadoutOp>(op))
    return evalReadout(frame, readout);
  if (auto readout = dyn_cast<attn::CausalReadoutOp>(op))
    return evalCausalReadout(frame, readout);
  if (auto normalize = dyn_cast<attn::NormalizeOp>(op))
    return evalNormalize(frame, normalize);
  return std::nullopt;
}
