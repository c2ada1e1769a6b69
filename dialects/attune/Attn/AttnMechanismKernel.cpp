//===- AttnMechanismKernel.cpp - Kernel attention as terms, and what it needs -*- C++ -*-===//
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

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// The map with the stabilizer that its terms take: none without a normaliser, the constant one where it cancels.
static FeatureMapAttr effectiveMap(KernelOp op) {
  FeatureMapAttr map = op.getFeatureMap();
  if (!map.isFavor())
    return map;
  if (op.getCompressKey())
    return map.withStabilizer(Stabilizer::None);
  if (op.getInitialScale() || op.getFinalScale())
    return map.withStabilizer(Stabilizer::None);
  bool hasStates = op.getInitialState() || op.getFinalState();
  bool cancels = !hasStates && map.stabilizerCancels(op.getDenominator());
  return cancels ? map.withStabilizer(Stabilizer::Constant) : map;
}

std::pair<Value, Value> attune::attn::buildFeatures(OpBuilder &builder, KernelOp op) {
  Location loc = op.getLoc();
  FeatureMapAttr map = effectiveMap(op);
  auto typeOf = [&](Value tokens) {
    ArrayRef<int64_t> x = shapeOf(tokens);
    return f32Of(builder, {x[0], mappedHeads(x[1], op.getParameter()), x[2], map.getFeatures(x[3])});
  };
  Value query = MapOp::create(builder, loc, typeOf(op.getQuery()), op.getQuery(), /*lengths=*/Value(),
                              op.getParameter(), /*shift=*/Value(), op.getPosition(), map, /*keys=*/UnitAttr(), /*execution=*/{});
  Type keyType = typeOf(op.getKey());
  Value shift;
  if (map.hasMaximumOverKeys())
    shift = KeyMaximumOp::create(builder, loc, f32Of(builder, cast<RankedTensorType>(keyType).getShape().take_front(2)),
                                 op.getKey(), op.getLengths(), op.getParameter(), map);
  Value key = MapOp::create(builder, loc, keyType, op.getKey(), op.getLengths(), op.getParameter(), shift, op.getPosition(), map,
                            builder.getUnitAttr(), /*execution=*/{});
  // With a denominator a key counts w times in both sums.
  if (op.getWrite() && !op.getDenominator().getNone())
    key = GateOp::create(builder, loc, keyType, key, op.getWrite());
  return {query, key};
}

Value attune::attn::buildWritten(OpBuilder &builder, KernelOp op) {
  Value value = op.getValue(), write = op.getWrite();
  bool deltaRule = op.getErase() && !write && shapeOf(op.getErase()).size() == 3;
  if (deltaRule)
    write = op.getErase();
  if (!write || !op.getDenominator().getNone())
    return value;
  return GateOp::create(builder, op.getLoc(), f32Of(builder, shapeOf(value)), value, write);
}

bool attune::attn::hasPairs(KernelOp op) {
  return !op.getErase() && !(op.getDecay() && shapeOf(op.getDecay()).size() == 4);
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

namespace {
/// Numerator, denominator and the state after the last token.
struct Readout {
  Value numerator, denominator, state, sum, scale;
};
} // namespace

/// a S over a z with S = bᵀ V, z = bᵀ 1.
static Readout readState(OpBuilder &builder, Location loc, Value a, Value b, Value value, Value lengths) {
  ArrayRef<int64_t> q = shapeOf(a), k = shapeOf(b), v = shapeOf(value);
  auto state = StateOp::create(builder, loc, f32Of(builder, {k[0], k[1], k[3], v[3]}),
                               f32Of(builder, {k[0], k[1], k[3]}), b, value, lengths);
  auto readout = ReadoutOp::create(builder, loc, f32Of(builder, {q[0], q[1], q[2], v[3]}),
                                   f32Of(builder, q.drop_back()), a, state.getState(), state.getSum(), /*execution=*/{});
  return {readout.getNumerator(), readout.getDenominator(), state.getState(), state.getSum(), Value()};
}

CausalReadoutOp attune::attn::buildCausalReadout(OpBuilder &builder, KernelOp op, Value a, Value b, ExecutionAttr execution) {
  Value value = buildWritten(builder, op);
  ArrayRef<int64_t> q = shapeOf(a), k = shapeOf(b), v = shapeOf(value);
  RankedTensorType sum = f32Of(builder, {k[0], k[1], k[3]});
  bool scaled = op.getInitialScale() || op.getFinalScale();
  return CausalReadoutOp::create(builder, op.getLoc(), f32Of(builder, {q[0], q[1], q[2], v[3]}), f32Of(builder, q.drop_back()),
                                 f32Of(builder, {k[0], k[1], k[3], v[3]}), sum, scaled ? sum : Type(), /*written=*/Type(), a, b, value, op.getLengths(),
                                 op.getInitialState(), op.getInitialSum(), op.getDecay(), op.getErase(), op.getInitialScale(),
                                 execution);
}

/// The readout of other queries, with or without what tokens write.
static CausalReadoutOp readBy(OpBuilder &builder, CausalReadoutOp op, Value queries, bool written) {
  ArrayRef<int64_t> q = shapeOf(queries), v = shapeOf(op.getValue()), s = shapeOf(op.getState());
  RankedTensorType rows = f32Of(builder, {q[0], q[1], q[2], v[3]});
  return CausalReadoutOp::create(builder, op.getLoc(), rows, f32Of(builder, q.drop_back()), f32Of(builder, s), f32Of(builder, s.drop_back()),
                                 op.getScale() ? op.getScale().getType() : Type(), written ? rows : Type(), queries, op.getKeyFeatures(), op.getValue(),
                                 op.getLengths(), op.getInitialState(), op.getInitialSum(), op.getDecay(), op.getErase(), op.getInitialScale(),
                                 op.getExecutionAttr());
}

CausalReadoutOp attune::attn::withWritten(CausalReadoutOp op) {
  if (op.getWritten())
    return op;
  OpBuilder builder(op);
  CausalReadoutOp result = readBy(builder, op, op.getQueryFeatures(), /*written=*/true);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(result->getResults().take_front(op->getNumResults()));
  op.erase();
  return result;
}

Value attune::attn::writtenOf(OpBuilder &builder, CausalReadoutOp op) {
  if (op.getWritten())
    return op.getWritten();
  for (Operation *user : op.getKeyFeatures().getUsers()) {
    auto other = dyn_cast<CausalReadoutOp>(user);
    if (other && other.getWritten() && llvm::equal(ValueRange(other->getOperands()).drop_front(), ValueRange(op->getOperands()).drop_front()))
      return other.getWritten();
  }
  return readBy(builder, op, op.getKeyFeatures(), /*written=*/true).getWritten();
}

static Readout readCausally(OpBuilder &builder, KernelOp op, Value a, Value b) {
  CausalReadoutOp readout = buildCausalReadout(builder, op, a, b, /*execution=*/{});
  return {readout.getNumerator(), readout.getDenominator(), readout.getState(), readout.getSum(), readout.getScale()};
}

SmallVector<Value> attune::attn::finalStates(KernelOp op, Value state, Value sum, Value scale) {
  SmallVector<Value> results;
  for (auto [result, value] : {std::pair(op.getFinalState(), state), std::pair(op.getFinalSum(), sum), std::pair(op.getFinalScale(), scale)})
    if (result)
      results.push_back(value);
  return results;
}

/// With an initial or a final state, and where weights of pairs are no products: causal readout, or state and readout.
static SmallVector<Value> decomposeWithState(OpBuilder &builder, KernelOp op, Value a, Value b) {
  Readout readout = op.getCausal() ? readCausally(builder, op, a, b)
                                   : readState(builder, op.getLoc(), a, b, op.getValue(), op.getLengths());
  Value denominator = op.getDenominator().getNone() ? Value() : readout.denominator;
  SmallVector<Value> results{NormalizeOp::create(builder, op.getLoc(), op.getOutput().getType(), readout.numerator,
                                                 denominator, op.getDenominatorAttr())};
  llvm::append_range(results, finalStates(op, readout.state, readout.sum, readout.scale));
  return results;
}

/// Naive FLuRKA: a ((E b)ᵀ (F V)), without a denominator.
static Value decomposeCompressed(OpBuilder &builder, KernelOp op, Value a, Value b) {
  Location loc = op.getLoc();
  auto compress = [&](Value source, Value weight) -> Value {
    ArrayRef<int64_t> x = shapeOf(source);
    return CompressOp::create(builder, loc, f32Of(builder, {x[0], x[1], shapeOf(weight)[1], x[3]}), source, weight,
                              op.getLengths(), /*execution=*/{});
  };
  Value features = compress(b, op.getCompressKey()), values = compress(op.getValue(), op.getCompressValue());
  Value numerator = readState(builder, loc, a, features, values, /*lengths=*/Value()).numerator;
  return NormalizeOp::create(builder, loc, op.getOutput().getType(), numerator, Value(), op.getDenominatorAttr());
}

SmallVector<Value> KernelOp::decompose(OpBuilder &builder) {
  auto [a, b] = buildFeatures(builder, *this);
  if (getCompressKey())
    return {decomposeCompressed(builder, *this, a, b)};
  if (getInitialState() || getFinalState() || !hasPairs(*this))
    return decomposeWithState(builder, *this, a, b);
  Value weights = buildWeights(builder, getLoc(), a, b);
  if (getDecay())
    weights = DecayOp::create(builder, getLoc(), weights.getType(), weights, getDecay(), getLengths());
  weights = buildVisible(builder, getLoc(), weights, {getLengths(), getCausalAttr(), getWindowAttr()});
  return {buildNormalized(builder, getLoc(), weights, buildWritten(builder, *this), getDenominatorAttr(), getOutput().getType())};
}

/// The least of pairs and of a state, after random features, which are products, and after E and F.
double KernelOp::multiplyAdds() {
  AttentionSizes s(getQuery(), getKey(), getValue(), getCausal());
  double m = static_cast<double>(getFeatureMap().getFeatures(shapeOf(getQuery())[3]));
  double keyHeads = static_cast<double>(mappedHeads(shapeOf(getKey())[1], getParameter()));
  s.shared = keyHeads / s.heads;
  bool random = getFeatureMap().getFeatureCount() > 0;
  double total = random ? s.ofAll((s.n + s.shared * s.N) * m * s.d) : 0;
  if (getCompressKey()) {
    double tokens = s.N, heads = static_cast<double>(shapeOf(getValue())[1]);
    s.N = static_cast<double>(shapeOf(getCompressKey())[1]);
    total += s.batch * s.N * tokens * (keyHeads * m + heads * s.dv);
  }
  if (getErase()) // each key reads what stands under it first
    return total + s.ofAll(s.states(m) + s.shared * s.N * m * s.dv);
  double states = s.states(m);
  return total + s.ofAll(hasPairs(*this) ? std::min(states, s.pairs(getWindow(), m)) : states);
}

std::pair<Value, Value> KernelOp::compression() {
  if (!getCompressValue())
    return {};
  return {getValue(), getCompressValue()};
}
