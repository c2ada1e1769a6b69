//===- LowerFavor.cpp - FAVOR's features as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     L_f = ⟨ω_f, x'⟩ − |x'|²/2,   φ_f = m^{-1/2} (e^{L_f − c} + ε),   x' = √s·x
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;
using attn::Stabilizer;

/// What e^{L − c} may grow to where c cancels: its products with rows of queries of at most 1 and values fit f32.
static constexpr double headroom = 60;

Exponents attune::raise::exponentsOf(Loops &loops, Value source, Value parameter, attn::FeatureMapAttr map,
                                     int64_t heads) {
  auto over = [&](StringRef pattern) { return loops.names(pattern, heads); };
  Named x = loops.named(source, "bhtd");
  double root = map.getScale() == 0 ? 1 : std::sqrt(map.getScale()), square = root * root;
  Value projections = loops.sum(over("bhtfd"), over("bhtf"), {x, loops.parameter(parameter, "hfd")},
                                [&](Point, ArrayRef<Number> y) { return y[0] * root * y[1]; });
  std::string row = without(x.names, "d");
  Value halves = loops.sum(x.names, row, {x}, [&](Point, ArrayRef<Number> y) { return y[0] * y[0] * (square / 2); });
  Value exponents = loops.map(over("bhtf"), {{projections, over("bhtf")}, {halves, row}},
                              [](Point, ArrayRef<Number> y) { return y[0] - y[1]; });
  return {projections, exponents, over("bhtf")};
}

//===----------------------------------------------------------------------===//
// Whether c cancels
//===----------------------------------------------------------------------===//

/// Every tensor that a factor of the features is a factor of; false if something else reads one.
static bool followFactor(Value value, SmallVectorImpl<attn::NormalizeOp> &divisions,
                         llvm::SmallPtrSetImpl<Value> &reached) {
  reached.insert(value);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto division = dyn_cast<attn::NormalizeOp>(user))
      return divisions.push_back(division), true;
    auto causal = dyn_cast<attn::CausalReadoutOp>(user);
    bool linear = isa<attn::ContractOp, attn::VisibleOp, attn::RowSumOp, attn::StateOp, attn::ReadoutOp>(user) ||
                  (causal && !causal.getInitialState());
    return linear &&
           llvm::all_of(user->getResults(), [&](Value result) { return followFactor(result, divisions, reached); });
  });
}

/// Whether numerators and denominators without a guard are all that reads the features: then c cancels.
static bool cancels(attn::MapOp op) {
  SmallVector<attn::NormalizeOp> divisions;
  llvm::SmallPtrSet<Value, 8> reached;
  if (op.getFeatureMap().getEpsilon() != 0 || !followFactor(op.getResult(), divisions, reached))
    return false;
  return llvm::all_of(divisions, [&](attn::NormalizeOp division) {
    return division.getDenominator() && reached.contains(division.getNumerator()) &&
           reached.contains(division.getDenominator()) && division.getGuard().getBias() == 0 &&
           division.getGuard().getFloor() == 0;
  });
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// max_f |ω_f|²/2 of each head, less the headroom where c cancels: long rows ω must not push every feature below f32.
static Named constantShift(Loops &loops, attn::MapOp op) {
  Named omega = loops.parameter(op.getParameter(), "hfd");
  std::string rows = without(omega.names, "d"), heads = without(omega.names, "fd");
  Value squares = loops.sum(omega.names, rows, {omega}, [](Point, ArrayRef<Number> x) { return x[0] * x[0] * 0.5; });
  bool free = cancels(op);
  Value shift = loops.maximum(rows, heads, {{squares, rows}},
                              [&](Point, ArrayRef<Number> x) { return free ? larger(x[0] + -headroom, 0) : x[0]; });
  return {shift, heads};
}

Value attune::raise::favorFeatures(Loops &loops, attn::MapOp op, int64_t heads) {
  attn::FeatureMapAttr map = op.getFeatureMap();
  Exponents of = exponentsOf(loops, op.getSource(), op.getParameter(), map, heads);
  SmallVector<Named> inputs = {{of.exponents, of.names}};
  if (op.getShift()) {
    inputs.push_back(loops.named(op.getShift(), "bh"));
  } else if (op.getKeys() && map.getStabilizer() == Stabilizer::Constant) {
    inputs.push_back(constantShift(loops, op));
  } else if (!op.getKeys() && map.getStabilizer() != Stabilizer::None) {
    Value compared = map.getStabilizer() == Stabilizer::Projection ? of.projections : of.exponents;
    std::string row = without(of.names, "f");
    inputs.push_back(
        {loops.maximum(of.names, row, {{compared, of.names}}, [](Point, ArrayRef<Number> x) { return x[0]; }), row});
  }
  double factor = 1 / std::sqrt(static_cast<double>(map.getFeatureCount()));
  return loops.map(of.names, inputs, [&](Point, ArrayRef<Number> x) {
    Number exponent = inputs.size() > 1 ? x[0] - x[1] : x[0];
    return (exp(exponent) + map.getEpsilon()) * factor;
  });
}

Results attune::raise::lower(OpBuilder &builder, attn::KeyMaximumOp op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  attn::FeatureMapAttr map = op.getFeatureMap();
  int64_t heads = headsOf(op.getResult());
  Loops loops(builder, op.getLoc(), {headsOf(op.getKey()), heads});
  Exponents of = exponentsOf(loops, op.getKey(), op.getParameter(), map, heads);
  SmallVector<Named> inputs = {
      {map.getStabilizer() == Stabilizer::Projection ? of.projections : of.exponents, of.names}};
  if (op.getLengths())
    inputs.push_back({op.getLengths(), "b"});
  std::string entry = without(of.names, "tf");
  Value result = loops.maximum(of.names, entry, inputs, [&](Point at, ArrayRef<Number> x) {
    if (!op.getLengths())
      return x[0];
    return select(at.index('t') < at.place(x[1]), x[0], -infinity);
  });
  result = loops.map(entry, {{result, entry}}, [](Point, ArrayRef<Number> x) { return select(x[0].isEqual(-infinity), 0, x[0]); });
  return {loops.flat(result, "bh", heads)};
}
