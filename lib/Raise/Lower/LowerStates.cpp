//===- LowerStates.cpp - States, readouts and the division as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

Results attune::raise::lower(OpBuilder &builder, attn::StateOp op) {
  int64_t heads = headsOf(op.getFeatures());
  Loops loops(builder, op.getLoc(), {headsOf(op.getValue()), heads});
  Named features = loops.named(existing(loops, op.getFeatures(), op.getLengths()), "bhjd");
  auto over = [&](StringRef pattern) { return loops.names(pattern, heads); };
  Named value = loops.named(existing(loops, op.getValue(), op.getLengths()), "bhjv");
  bool careful = !op.getLengths() && mayReadNothing(op.getFeatures());
  Value state = loops.sum(over("bhdvj"), over("bhdv"), {features, value},
                          [&](Point, ArrayRef<Number> x) { return careful ? scaledOrNone(x[0], x[1]) : x[0] * x[1]; });
  Value sum = loops.sum(over("bhdj"), over("bhd"), {features}, [](Point, ArrayRef<Number> x) { return x[0]; });
  return {loops.flat(state, "bhdv", heads), loops.flat(sum, "bhd", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::StateMergeOp op) {
  Loops loops(builder, op.getLoc());
  auto added = [&](Value a, Value b, std::string names) {
    return loops.map(names, {{a, names}, {b, names}}, [](Point, ArrayRef<Number> x) { return x[0] + x[1]; });
  };
  return {added(op.getFirstState(), op.getSecondState(), "bhdv"), added(op.getFirstSum(), op.getSecondSum(), "bhd")};
}

/// ⟨a_i, S⟩ and ⟨a_i, z⟩ of features "bhid" and a state "bhdv" with its sum "bhd".
static std::pair<Value, Value> read(Loops &loops, Value features, Value state, Value sum) {
  int64_t heads = headsOf(features);
  auto over = [&](StringRef pattern) { return loops.names(pattern, heads); };
  auto product = [](Point, ArrayRef<Number> x) { return x[0] * x[1]; };
  Named a = loops.named(features, "bhid");
  Value numerator = loops.sum(over("bhivd"), over("bhiv"), {a, loops.named(state, "bhdv")}, product);
  Value denominator = loops.sum(over("bhid"), over("bhi"), {a, loops.named(sum, "bhd")}, product);
  return {loops.flat(numerator, "bhiv", heads), loops.flat(denominator, "bhi", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::ReadoutOp op) {
  Loops loops(builder, op.getLoc(), {headsOf(op.getState()), headsOf(op.getFeatures())});
  auto [numerator, denominator] = read(loops, op.getFeatures(), op.getState(), op.getSum());
  return {numerator, denominator};
}

/// The quadratic form: the tokens of a chunk at a time are a matter of tiling.
Results attune::raise::lower(OpBuilder &builder, attn::CausalReadoutOp op) {
  // `attn.kernel` with decay of heads is written as pairs; states that stand rescaled are those of kernels.
  if (op.getDecay() || op.getErase() || op.getScale() || (op.getInitialState() && !op.getInitialSum()))
    return {};
  Location loc = op.getLoc();
  int64_t heads = headsOf(op.getQueryFeatures()), shared = headsOf(op.getKeyFeatures());
  Loops loops(builder, loc, {headsOf(op.getValue()), shared, heads});
  auto over = [&](StringRef pattern) { return loops.names(pattern, heads); };
  Value existingFeatures = existing(loops, op.getKeyFeatures(), op.getLengths());
  Named a = loops.named(op.getQueryFeatures(), "bhid"), b = loops.named(existingFeatures, "bhjd");
  Named value = loops.named(existing(loops, op.getValue(), op.getLengths()), "bhjv");
  Value products =
      loops.sum(over("bhijd"), over("bhij"), {a, b}, [](Point, ArrayRef<Number> x) { return x[0] * x[1]; });
  Named weights = {
      loops.map(over("bhij"), {{products, over("bhij")}},
                [](Point at, ArrayRef<Number> x) { return select(at.index('j') <= at.index('i'), x[0], 0); }),
      over("bhij")};
  Value numerator = loops.flat(
      loops.sum(over("bhijv"), over("bhiv"), {weights, value}, [](Point, ArrayRef<Number> x) { return x[0] * x[1]; }),
      "bhiv", heads);
  Value denominator = loops.flat(
      loops.sum(over("bhij"), over("bhi"), {weights}, [](Point, ArrayRef<Number> x) { return x[0]; }), "bhi", heads);
  auto ofKeys = [&](StringRef pattern) { return loops.names(pattern, shared); };
  Value state = loops.flat(
      loops.sum(ofKeys("bhdvj"), ofKeys("bhdv"), {b, value}, [](Point, ArrayRef<Number> x) { return x[0] * x[1]; }),
      "bhdv", shared);
  Value sum = loops.flat(loops.sum(ofKeys("bhdj"), ofKeys("bhd"), {b}, [](Point, ArrayRef<Number> x) { return x[0]; }),
                         "bhd", shared);
  if (!op.getInitialState())
    return {numerator, denominator, state, sum};
  auto added = [&](Value x, Value y, std::string names) {
    return loops.map(names, {{x, names}, {y, names}}, [](Point, ArrayRef<Number> z) { return z[0] + z[1]; });
  };
  auto [before, sumBefore] = read(loops, op.getQueryFeatures(), op.getInitialState(), op.getInitialSum());
  return {added(numerator, before, "bhiv"), added(denominator, sumBefore, "bhi"),
          added(state, op.getInitialState(), "bhdv"), added(sum, op.getInitialSum(), "bhd")};
}

Results attune::raise::lower(OpBuilder &builder, attn::NormalizeOp op) {
  Loops loops(builder, op.getLoc());
  double bias = op.getGuard().getBias(), floor = op.getGuard().getFloor();
  SmallVector<Named> inputs = {{op.getNumerator(), "bhiv"}};
  if (op.getDenominator())
    inputs.push_back({op.getDenominator(), "bhi"});
  return {loops.map(
      "bhiv", inputs,
      [&](Point, ArrayRef<Number> x) {
        if (!op.getDenominator())
          return x[0];
        Number guarded = x[1] + bias;
        if (floor != 0)
          guarded = larger(guarded, floor);
        return select(!guarded.isZero(), x[0] / guarded, 0);
      },
      elementOf(op.getOutput()))};
}
