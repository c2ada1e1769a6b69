//===- EvalKernelTerms.cpp - States, readouts, the division --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Gates.h"
#include "Rows.h"

#include "attune/Reference/Attention.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static LogicalResult checkHeads(Operation *op, int64_t heads, int64_t shared) {
  if (shared > 0 && heads % shared == 0)
    return success();
  return op->emitOpError() << "expected a number of key-value heads that divides " << heads << ", but got " << shared;
}

/// state += b vᵀ and sum += b, for the features b and the value v of one token.
static void addToken(const Array &features, const Array &value, int64_t b, int64_t g, int64_t token, Array &state,
                     Array &sum) {
  for (int64_t f = 0; f < features.size(3); ++f) {
    double feature = features({b, g, token, f});
    if (feature == 0) // then the value may be anything
      continue;
    addScaled(feature, Rows(value, b, g * value.size(1) / features.size(1))[token], value.size(3), state.at({b, g, f, 0}));
    sum({b, g, f}) += feature;
  }
}

/// What a token leaves of state and sum.
static void decayBy(const Array &decay, int64_t b, int64_t g, int64_t token, Array &state, Array &sum) {
  for (int64_t f = 0; f < state.size(2); ++f) {
    double kept = std::exp(gateAt(decay, b, g, token, f));
    for (int64_t c = 0; c < state.size(3); ++c)
      state({b, g, f, c}) *= kept;
    sum({b, g, f}) *= kept;
  }
}

/// state −= b (Sᵀ (β ⊙ b))ᵀ. Returns what stood there, Sᵀ (β ⊙ b).
static std::vector<double> eraseBy(const Array &erase, const Array &features, int64_t b, int64_t g, int64_t token, Array &state) {
  int64_t m = state.size(2), width = state.size(3);
  std::vector<double> under(width);
  for (int64_t f = 0; f < m; ++f)
    if (double share = gateAt(erase, b, g, token, f) * features({b, g, token, f}); share != 0)
      addScaled(share, Rows(state, b, g)[f], width, under.data());
  for (int64_t f = 0; f < m; ++f)
    for (int64_t c = 0; c < width; ++c)
      state({b, g, f, c}) -= features({b, g, token, f}) * under[c];
  return under;
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
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), features.size(0), features.size(2));
  if (failed(lengths) ||
      failed(checkHeads(op, features.size(1), value.size(1))) ||
      failed(expectShape(op, "value", value, {features.size(0), value.size(1), features.size(2), value.size(3)})))
    return failure();
  Array state({features.size(0), features.size(1), features.size(3), value.size(3)});
  Array sum({features.size(0), features.size(1), features.size(3)});
  for (int64_t b = 0; b < features.size(0); ++b)
    for (int64_t g = 0; g < features.size(1); ++g)
      for (int64_t token = 0; token < (*lengths)[b]; ++token)
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

static LogicalResult evalReadout(AttnFrame &frame, attn::ReadoutOp op) {
  AttnValue chosen = frame.rowsFor(op.getNumerator(), op.getFeatures());
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

/// A number of each head, of each token or of each feature of keys [batch, heads, tokens, features].
static LogicalResult expectGate(Operation *op, const Array &gate, ArrayRef<int64_t> keys) {
  SmallVector<int64_t> shape(gate.rank() == 1 ? keys.slice(1, 1) : keys.take_front(gate.rank()));
  return expectShape(op, "gate", gate, shape);
}

static LogicalResult checkCausal(AttnFrame &frame, attn::CausalReadoutOp op, const AttnValue &query, const Array &b) {
  const Array &a = query.array, &value = frame[op.getValue()];
  SmallVector<int64_t> sum{b.size(0), b.size(1), b.size(3)}, state = sum;
  state.push_back(value.size(3));
  if (failed(checkHeads(op, a.size(1), b.size(1))) ||
      failed(expectShape(op, "key features", b, {a.size(0), b.size(1), AttnFrame::tokensOf(query), a.size(3)})) ||
      failed(checkHeads(op, b.size(1), value.size(1))) ||
      failed(expectShape(op, "value", value, {b.size(0), value.size(1), b.size(2), value.size(3)})))
    return failure();
  for (mlir::Value gate : {op.getDecay(), op.getErase()})
    if (gate && failed(expectGate(op, frame[gate], b.shape())))
      return failure();
  if (!op.getInitialState())
    return success();
  if (failed(expectShape(op, "initial state", frame[op.getInitialState()], state)))
    return failure();
  for (mlir::Value each : {op.getInitialSum(), op.getInitialScale()})
    if (each && failed(expectShape(op, "initial sum", frame[each], sum)))
      return failure();
  return success();
}

/// Rows of a state are e to their scale times what it holds; of a row of zeros the scale says nothing.
static void unscale(const Array &scale, Array &state, Array &sum) {
  for (int64_t row = 0, width = state.size(3); row < sum.count(); ++row) {
    double *entries = &state.element(row * width), factor = std::exp(scale.element(row));
    for (int64_t c = 0; c < width; ++c)
      entries[c] = entries[c] == 0 ? 0 : entries[c] * factor;
    sum.element(row) = sum.element(row) == 0 ? 0 : sum.element(row) * factor;
  }
}

static LogicalResult evalCausalReadout(AttnFrame &frame, attn::CausalReadoutOp op) {
  AttnValue query = frame.rowsFor(op.getNumerator(), op.getQueryFeatures());
  const Array &a = query.array, &b = frame[op.getKeyFeatures()], &value = frame[op.getValue()];
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), b.size(0), b.size(2));
  if (failed(lengths) || failed(checkCausal(frame, op, query, b)))
    return failure();
  int64_t batch = a.size(0), heads = a.size(1), shared = b.size(1);
  Array state({batch, shared, b.size(3), value.size(3)}), sum({batch, shared, b.size(3)});
  if (op.getInitialState()) {
    state = makeArray(state.shape(), frame[op.getInitialState()].elements());
    if (op.getInitialSum())
      sum = makeArray(sum.shape(), frame[op.getInitialSum()].elements());
  }
  if (op.getInitialScale()) // in units of 1 from here on
    unscale(frame[op.getInitialScale()], state, sum);
  Array numerator({batch, heads, a.size(2), value.size(3)}), denominator({batch, heads, a.size(2)}), written;
  if (op.getWritten())
    written = Array({batch, shared, b.size(2), value.size(3)});
  std::vector<double> under;
  std::multimap<int64_t, int64_t> placesOfRows;
  for (auto [place, row] : llvm::enumerate(frame.rowsOf(query)))
    placesOfRows.emplace(row, place);
  for (int64_t entry = 0; entry < batch; ++entry)
    for (int64_t token = 0; token < b.size(2); ++token) {
      for (int64_t g = 0; g < shared && token < (*lengths)[entry]; ++g) {
        if (op.getDecay())
          decayBy(frame[op.getDecay()], entry, g, token, state, sum);
        if (op.getErase())
          under = eraseBy(frame[op.getErase()], b, entry, g, token, state);
        for (int64_t c = 0; op.getWritten() && c < value.size(3); ++c)
          written({entry, g, token, c}) = value({entry, g * value.size(1) / shared, token, c}) - under[c];
        addToken(b, value, entry, g, token, state, sum);
      }
      for (auto [it, end] = placesOfRows.equal_range(token); it != end; ++it)
        for (int64_t h = 0; h < heads; ++h)
          denominator({entry, h, it->second}) = readState(Rows(a, entry, h)[it->second], state, sum, entry,
                                                          h * shared / heads,
                                                          numerator.at({entry, h, it->second, 0}));
    }
  frame.set(op.getNumerator(), std::move(numerator), query.queries);
  frame.set(op.getDenominator(), std::move(denominator), query.queries);
  if (op.getScale())
    frame.set(op.getScale(), Array(sum.shape()));
  if (op.getWritten())
    frame.set(op.getWritten(), std::move(written));
  frame.set(op.getState(), std::move(state));
  frame.set(op.getSum(), std::move(sum));
  return success();
}

static LogicalResult evalAdvance(AttnFrame &frame, attn::AdvanceOp op) {
  AttnValue tokens = frame.get(op.getTokens());
  int64_t batch = tokens.array.size(0), count = tokens.queries.value_or(tokens.array.size(tokens.array.rank() - 2));
  std::optional<Array> position = frame.optional(op.getPosition());
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), batch, count);
  if (failed(lengths) || (position && failed(expectShape(op, "position", *position, {batch}))))
    return failure();
  Array result({batch});
  for (int64_t b = 0; b < batch; ++b)
    result({b}) = (position ? (*position)({b}) : 0) + static_cast<double>((*lengths)[b]);
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalNormalize(AttnFrame &frame, attn::NormalizeOp op) {
  AttnValue value = frame.rowsFor(op.getOutput(), op.getNumerator());
  if (!op.getDenominator()) {
    frame.set(op.getOutput(), value.array, value.queries);
    return success();
  }
  const Array &numerator = value.array;
  Array denominator = frame.rowsFor(op.getOutput(), op.getDenominator()).array;
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

void attune::reference::addKernelTerms(Evaluators &all) {
  all.add(evalState, evalStateMerge, evalReadout, evalCausalReadout, evalAdvance, evalNormalize);
}
