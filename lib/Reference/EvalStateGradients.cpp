//===- EvalStateGradients.cpp - The gradient of the causal readout ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluators.h"
#include "Gates.h"

#include "Matrix.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// What a gradient of a causal readout reads and gives; absent ones are empty.
struct Tensors {
  Array a, b, value;
  std::optional<Array> decay, erase, write, initialState, initialSum, initialScale;
  std::optional<Array> numerator, denominator, finalState, finalSum;
  std::optional<Array> written; ///< u of keys that erase
  attn::DenominatorAttr guard; ///< null: the numerator's cotangent is that
  Array aGradient, bGradient, valueGradient, stateGradient, sumGradient, decayGradient, eraseGradient, writeGradient;
};

/// S [m, dv] and z [m].
struct State {
  Matrix state;
  std::vector<double> sum;
};

/// One state head of one entry: its states after each token, forwards, then what reaches them, backwards.
class HeadGradient {
public:
  HeadGradient(Tensors &all, int64_t entry, int64_t head, int64_t length)
      : all(all), entry(entry), head(head), length(length), m(all.b.size(3)), width(all.value.size(3)),
        valueHead(head * all.value.size(1) / all.b.size(1)), group(all.a.size(1) / all.b.size(1)) {}

  void run() {
    passForwards();
    State reaching = load(all.finalState, all.finalSum);
    for (int64_t t = all.b.size(2); t-- > 0;) {
      readBackwards(t, reaching);
      if (t < length)
        enterBackwards(t, reaching);
    }
    put(reaching);
  }

private:
  double eraseOf(int64_t t, int64_t f) const { return all.erase ? gateAt(*all.erase, entry, head, t, f) : 0; }
  double keptOf(int64_t t, int64_t f) const { return all.decay ? std::exp(gateAt(*all.decay, entry, head, t, f)) : 1; }
  double shareOf(int64_t t) const { return all.write ? (*all.write)({entry, head, t}) : 1; }
  /// Of a key with the share that it enters with.
  double feature(int64_t t, int64_t f) const { return shareOf(t) * all.b({entry, head, t, f}); }

  /// Of the head; rows are e to their scale times what is there, of a row of zeros the scale says nothing.
  State load(const std::optional<Array> &state, const std::optional<Array> &sum, const std::optional<Array> &scale = {}) const {
    State result{Matrix(m, width), std::vector<double>(m)};
    for (int64_t f = 0; f < m; ++f) {
      double unit = scale ? std::exp((*scale)({entry, head, f})) : 1;
      for (int64_t c = 0; state && c < width; ++c)
        result.state[f][c] = (*state)({entry, head, f, c}) == 0 ? 0 : (*state)({entry, head, f, c}) * unit;
      if (sum)
        result.sum[f] = (*sum)({entry, head, f}) == 0 ? 0 : (*sum)({entry, head, f}) * unit;
    }
    return result;
  }
  State decayed(const State &before, int64_t t) const {
    State result = before;
    for (int64_t f = 0; f < m; ++f) {
      double kept = keptOf(t, f);
      for (int64_t c = 0; c < width; ++c)
        result.state[f][c] *= kept;
      result.sum[f] *= kept;
    }
    return result;
  }

  /// u = v − S̃ᵀ (β ⊙ b): what a token adds under its key.
  std::vector<double> updateOf(int64_t t) const {
    std::vector<double> update(width);
    for (int64_t c = 0; c < width; ++c)
      update[c] = all.written ? (*all.written)({entry, head, t, c}) : all.value({entry, valueHead, t, c});
    return update;
  }

  void passForwards() {
    after.push_back(load(all.initialState, all.initialSum, all.initialScale));
    for (int64_t t = 0; t < length; ++t) {
      State next = decayed(after.back(), t);
      std::vector<double> update = updateOf(t);
      for (int64_t f = 0; f < m; ++f) {
        if (double own = feature(t, f); own != 0) // else the value may be anything
          addScaled(own, update.data(), width, next.state[f]), next.sum[f] += own;
      }
      after.push_back(std::move(next));
    }
  }

  /// The queries of the group that read the state after token t.
  void readBackwards(int64_t t, State &reaching) {
    const State &state = after[std::min(t + 1, length)];
    for (int64_t h = head * group; h < (head + 1) * group; ++h) {
      auto [numerator, denominator] = cotangentsOf(h, t, state);
      for (int64_t f = 0; f < m; ++f) {
        double query = all.a({entry, h, t, f}), &gradient = all.aGradient({entry, h, t, f});
        for (int64_t c = 0; c < width; ++c) {
          gradient += numerator[c] * state.state[f][c];
          reaching.state[f][c] += query * numerator[c];
        }
        gradient += denominator * state.sum[f];
        reaching.sum[f] += query * denominator;
      }
    }
  }

  /// ū and w̄ of a query, 0 where they are absent; with a guard from ō, and u and g, which the state gives.
  std::pair<std::vector<double>, double> cotangentsOf(int64_t h, int64_t t, const State &state) const {
    std::vector<double> numerator(width);
    for (int64_t c = 0; all.numerator && c < width; ++c)
      numerator[c] = (*all.numerator)({entry, h, t, c});
    if (!all.guard)
      return {numerator, all.denominator ? (*all.denominator)({entry, h, t}) : 0};
    double divisor = 0, product = 0; // g, ⟨ō, u⟩
    for (int64_t f = 0; f < m; ++f) {
      double query = all.a({entry, h, t, f});
      divisor += query * state.sum[f];
      product += query * dot(state.state[f], numerator.data(), width);
    }
    double biased = divisor + all.guard.getBias(), floor = all.guard.getFloor();
    bool isHeld = floor != 0 && biased <= floor;
    double guarded = isHeld ? floor : biased;
    if (guarded == 0)
      return {std::vector<double>(width), 0};
    for (double &each : numerator)
      each /= guarded;
    return {numerator, isHeld ? 0 : -product / (guarded * guarded)};
  }

  void enterBackwards(int64_t t, State &reaching) {
    State faded = decayed(after[t], t);
    std::vector<double> update = updateOf(t), value(width), erased(m);
    for (int64_t f = 0; f < m; ++f)
      addScaled(feature(t, f), reaching.state[f], width, value.data()); // v̄ = Λᵀ b
    for (int64_t c = 0; c < width; ++c)
      all.valueGradient({entry, valueHead, t, c}) += value[c];
    for (int64_t f = 0; f < m; ++f) {
      erased[f] = all.erase ? dot(faded.state[f], value.data(), width) : 0; // S̃ v̄
      double ofFeature = dot(reaching.state[f], update.data(), width) + reaching.sum[f] - eraseOf(t, f) * erased[f];
      all.bGradient({entry, head, t, f}) += shareOf(t) * ofFeature;
      if (all.write)
        addTo(all.writeGradient, t, f, all.b({entry, head, t, f}) * ofFeature);
      if (all.erase)
        addTo(all.eraseGradient, t, f, -feature(t, f) * erased[f]);
      addScaled(-eraseOf(t, f) * feature(t, f), value.data(), width, reaching.state[f]); // Λ̃
      if (all.decay)
        addTo(all.decayGradient, t, f, dot(reaching.state[f], faded.state[f], width) + reaching.sum[f] * faded.sum[f]);
    }
    reaching = decayed(reaching, t);
  }

  /// To a number of the head, of the token or of the feature.
  void addTo(Array &gradient, int64_t t, int64_t f, double share) const {
    (gradient.rank() == 1 ? gradient({head}) : gradient.rank() == 3 ? gradient({entry, head, t}) : gradient({entry, head, t, f})) += share;
  }

  void put(const State &reaching) const {
    for (int64_t f = 0; f < m; ++f) {
      for (int64_t c = 0; all.initialState && c < width; ++c)
        all.stateGradient({entry, head, f, c}) = reaching.state[f][c];
      if (all.initialSum)
        all.sumGradient({entry, head, f}) = reaching.sum[f];
    }
  }

  Tensors &all;
  int64_t entry, head, length, m, width, valueHead, group;
  std::vector<State> after; ///< t tokens
};
} // namespace

static LogicalResult checkShapes(Operation *op, const Tensors &all) {
  ArrayRef<int64_t> a = all.a.shape(), b = all.b.shape(), v = all.value.shape();
  if (b[1] < 1 || v[1] < 1 || a[1] % b[1] != 0 || b[1] % v[1] != 0)
    return op->emitOpError() << "expected heads that divide one another, but got " << a[1] << ", " << b[1] << " and " << v[1];
  if (failed(expectShape(op, "key features", all.b, {a[0], b[1], a[2], a[3]})) || failed(expectShape(op, "value", all.value, {a[0], v[1], a[2], v[3]})))
    return failure();
  SmallVector<int64_t, 4> state{a[0], b[1], a[3], v[3]}, rows{a[0], a[1], a[2], v[3]};
  auto fits = [&](StringRef what, const std::optional<Array> &array, ArrayRef<int64_t> shape) {
    return !array || succeeded(expectShape(op, what, *array, shape));
  };
  return success(fits("numerator", all.numerator, rows) && fits("denominator", all.denominator, ArrayRef(rows).drop_back()) &&
                 fits("state", all.finalState, state) && fits("sum", all.finalSum, ArrayRef(state).drop_back()) &&
                 fits("written", all.written, {b[0], b[1], b[2], v[3]}) && fits("initial state", all.initialState, state) &&
                 fits("initial sum", all.initialSum, ArrayRef(state).drop_back()) &&
                 fits("initial scale", all.initialScale, ArrayRef(state).drop_back()));
}

/// Cotangents of logarithms from those of what they are of.
static void multiply(Array &cotangent, const Array &of) {
  for (int64_t number = 0; number < of.count(); ++number)
    cotangent.element(number) *= of.element(number);
}

static LogicalResult evalCausalReadoutGradient(AttnFrame &frame, attn::CausalReadoutGradientOp op) {
  Tensors all{frame[op.getQueryFeatures()], frame[op.getKeyFeatures()], frame[op.getValue()], frame.optional(op.getDecay()),
              frame.optional(op.getErase()), frame.optional(op.getWrite()), frame.optional(op.getInitialState()), frame.optional(op.getInitialSum()),
              frame.optional(op.getInitialScale()), frame.optional(op.getNumerator()), frame.optional(op.getDenominator()),
              frame.optional(op.getState()), frame.optional(op.getSum()), frame.optional(op.getWritten()), op.getGuardAttr(), {}, {}, {}, {}, {}, {}, {}, {}};
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), all.b.size(0), all.b.size(2));
  if (failed(lengths) || failed(checkShapes(op, all)))
    return failure();
  all.aGradient = Array(all.a.shape()), all.bGradient = Array(all.b.shape()), all.valueGradient = Array(all.value.shape());
  for (auto [from, to] : {std::pair(&all.initialState, &all.stateGradient), std::pair(&all.initialSum, &all.sumGradient),
                          std::pair(&all.decay, &all.decayGradient), std::pair(&all.erase, &all.eraseGradient), std::pair(&all.write, &all.writeGradient)})
    if (*from)
      *to = Array((*from)->shape());
  for (int64_t entry = 0; entry < all.b.size(0); ++entry)
    for (int64_t head = 0; head < all.b.size(1); ++head)
      HeadGradient(all, entry, head, (*lengths)[entry]).run();
  if (op.getLogarithms()) {
    multiply(all.aGradient, all.a);
    multiply(all.bGradient, all.b);
  }
  frame.set(op.getQueryGradient(), all.aGradient);
  frame.set(op.getKeyGradient(), all.bGradient);
  frame.set(op.getValueGradient(), all.valueGradient);
  frame.set(op.getStateGradient(), all.stateGradient);
  frame.set(op.getSumGradient(), all.sumGradient);
  frame.set(op.getDecayGradient(), all.decayGradient);
  frame.set(op.getEraseGradient(), all.eraseGradient);
  frame.set(op.getWriteGradient(), all.writeGradient);
  return success();
}

void attune::reference::addStateGradients(Evaluators &all) { all.add(evalCausalReadoutGradient); }
