//===- GradientStates.cpp - Cotangents of features, states and quotients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnGradients.h"

#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::gradients;

static constexpr Role tokenFeatures[] = {Role::Batch, Role::Head, Role::Key, Role::Feature};
static constexpr Role queryFeatures[] = {Role::Batch, Role::Head, Role::Query, Role::Feature};
static constexpr Role values[] = {Role::Batch, Role::Head, Role::Key, Role::Value};
static constexpr Role outputs[] = {Role::Batch, Role::Head, Role::Query, Role::Value};
static constexpr Role states[] = {Role::Batch, Role::Head, Role::Feature, Role::Value};
static constexpr Role sums[] = {Role::Batch, Role::Head, Role::Feature};
static constexpr Role rows[] = {Role::Batch, Role::Head, Role::Query};

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// Whether features have the cotangents of their logarithms.
static UnitAttr areLogarithms(OpBuilder &builder, Value cotangent) {
  if (auto heads = cotangent.getDefiningOp<SumHeadsOp>())
    return areLogarithms(builder, heads.getSource());
  if (isa_and_present<FeatureQueryGradientOp, FeatureKeyGradientsOp>(cotangent.getDefiningOp()))
    return builder.getUnitAttr();
  auto readout = cotangent.getDefiningOp<CausalReadoutGradientOp>();
  return readout ? readout.getLogarithmsAttr() : UnitAttr();
}

SmallVector<Value> MapOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  ArrayRef<int64_t> x = shapeOf(getSource()), phi = shapeOf(getResult());
  Gradients gradients(getNumOperands());
  UnitAttr logarithms = areLogarithms(builder, cotangents[0]);
  Value source = MapGradientOp::create(builder, getLoc(), f32Of(builder, {phi[0], phi[1], phi[2], x[3]}), getSource(), cotangents[0], getLengths(),
                                       getParameter(), getShift(), getPosition(), getFeatureMapAttr(), getKeysAttr(), logarithms);
  gradients[0] = sumHeads(builder, getLoc(), source, x[1]);
  if (getParameter())
    gradients[getParameterMutable().begin()->getOperandNumber()] =
        MapParameterGradientOp::create(builder, getLoc(), typeLike(builder, getParameter()), getSource(), cotangents[0], getLengths(),
                                       getParameter(), getShift(), getPosition(), getFeatureMapAttr(), getKeysAttr(), logarithms);
  return gradients;
}

/// A shift is a constant of the function.
SmallVector<Value> KeyMaximumOp::buildGradients(OpBuilder &, ValueRange) { return Gradients(getNumOperands()); }

SmallVector<Value> SketchOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  ArrayRef<int64_t> x = shapeOf(getSource()), s = shapeOf(getResult());
  Gradients gradients(getNumOperands());
  Value source = SketchGradientOp::create(builder, getLoc(), f32Of(builder, {s[0], s[1], s[2], x[3]}), getSource(), cotangents[0], getSigns(),
                                          getIndices(), getSizeAttr(), getScaleAttr());
  gradients[0] = sumHeads(builder, getLoc(), source, x[1]);
  return gradients;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// S = Bᵀ V, z = Bᵀ 1: B̄ = V S̄ᵀ + 1 z̄ᵀ, V̄ = B S̄.
SmallVector<Value> StateOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value state = cotangents[0], sums_ = cotangents[1], features, value;
  if (state) {
    Value there = existing(builder, loc, getValue(), getLengths());
    features = contract(builder, loc, there, values, state, states, tokenFeatures);
    value = sumHeads(builder, loc, contract(builder, loc, getFeatures(), tokenFeatures, state, states, values), shapeOf(getValue())[1]);
  }
  if (sums_) {
    features = sum(builder, loc, features, spread(builder, loc, sums_, sums, getFeatures(), tokenFeatures));
  }
  Gradients gradients(getNumOperands());
  gradients[0] = features, gradients[1] = value;
  return gradients;
}

SmallVector<Value> StateMergeOp::buildGradients(OpBuilder &, ValueRange cotangents) {
  return {cotangents[0], cotangents[1], cotangents[0], cotangents[1]};
}

/// u = A S, w = A z: Ā = ū Sᵀ + w̄ zᵀ, S̄ = Aᵀ ū, z̄ = Aᵀ w̄.
SmallVector<Value> ReadoutOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value numerator = cotangents[0], denominator = cotangents[1], features, state, sum_;
  int64_t shared = shapeOf(getState())[1];
  if (numerator) {
    features = contract(builder, loc, numerator, outputs, getState(), states, queryFeatures);
    state = sumHeads(builder, loc, contract(builder, loc, getFeatures(), queryFeatures, numerator, outputs, states), shared);
  }
  if (denominator) {
    features = sum(builder, loc, features, contract(builder, loc, denominator, rows, getSum(), sums, queryFeatures));
    sum_ = sumHeads(builder, loc, contract(builder, loc, getFeatures(), queryFeatures, denominator, rows, sums), shared);
  }
  return {features, state, sum_};
}

/// What divides the cotangent of the output that a readout's numerator and denominator are read by alone: ū = ō / g. Null: others read them too.
static NormalizeOp quotientBehind(CausalReadoutOp op, ValueRange cotangents) {
  auto divided = cotangents[0] ? cotangents[0].getDefiningOp<NormalizeOp>() : NormalizeOp();
  auto ofDivisor = cotangents[1] ? cotangents[1].getDefiningOp<DenominatorGradientOp>() : DenominatorGradientOp();
  auto products = ofDivisor ? ofDivisor.getDelta().getDefiningOp<ContractOp>() : ContractOp();
  auto output = products ? products.getRhs().getDefiningOp<NormalizeOp>() : NormalizeOp();
  bool isOutput = output && output.getNumerator() == op.getNumerator() && output.getDenominator() == op.getDenominator();
  bool isAll = divided && output && divided.getNumerator() == products.getLhs() && divided.getDenominator() == op.getDenominator() &&
               ofDivisor.getDenominator() == op.getDenominator() && divided.getGuard() == ofDivisor.getGuard();
  return isOutput && isAll && !op.getErase() ? divided : NormalizeOp();
}

/// The shares that keys of a readout enter with, a number of each; null: they enter as they are.
static GateOp sharesOfKeys(CausalReadoutOp op) {
  auto gate = op.getKeyFeatures().getDefiningOp<GateOp>();
  return gate && shapeOf(gate.getGate()).size() == 3 && gate->hasOneUse() ? gate : GateOp();
}

/// Whether features of a quotient under this guard may be out of the range of f32: then their logarithms have the cotangents. Nobody else may read them.
/// A state of FAVOR's features has a scale, or else their stabilizer, and decays in no form of logarithms.
static bool readsExponents(CausalReadoutOp op, DenominatorAttr guard) {
  GateOp shares = sharesOfKeys(op);
  Value features = shares ? shares.getSource() : op.getKeyFeatures();
  auto a = op.getQueryFeatures().getDefiningOp<MapOp>(), b = features.getDefiningOp<MapOp>();
  if (!a || !b || !a->hasOneUse() || !b->hasOneUse() || !areAlike(a, b))
    return false;
  if (a.getFeatureMap().isFavor() && (op.getDecay() || (op.getInitialState() && !op.getInitialScale())))
    return false;
  return carriesExponents(a.getFeatureMap(), shapeOf(a.getSource())[3], guard);
}

SmallVector<Value> CausalReadoutOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  auto like = [&](Value operand) { return operand ? typeLike(builder, operand) : Type(); };
  NormalizeOp quotient = quotientBehind(*this, cotangents);
  Value numerator = quotient ? quotient.getNumerator() : cotangents[0], denominator = quotient ? Value() : cotangents[1];
  bool ofLogarithms = quotient && readsExponents(*this, quotient.getGuard());
  GateOp shares = ofLogarithms ? sharesOfKeys(*this) : GateOp();
  Value write = shares ? shares.getGate() : Value(), keys = shares ? shares.getSource() : getKeyFeatures();
  auto op = CausalReadoutGradientOp::create(
      builder, getLoc(), like(getQueryFeatures()), like(getKeyFeatures()), like(getValue()), like(getInitialState()), like(getInitialSum()),
      like(getDecay()), like(getErase()), like(write), getQueryFeatures(), keys, getValue(), getLengths(), getInitialState(), getInitialSum(),
      getDecay(), getErase(), write, getInitialScale(), numerator, denominator, cotangents[2], cotangents[3],
      getErase() ? writtenOf(builder, *this) : Value(), quotient ? quotient.getGuardAttr() : DenominatorAttr(), ofLogarithms ? builder.getUnitAttr() : UnitAttr(), /*execution=*/ExecutionAttr());
  Gradients gradients(getNumOperands());
  auto put = [&](MutableOperandRange operand, Value gradient) {
    if (!operand.empty())
      gradients[operand.begin()->getOperandNumber()] = gradient;
  };
  gradients[0] = op.getQueryGradient(), gradients[1] = op.getKeyGradient(), gradients[2] = op.getValueGradient();
  put(getInitialStateMutable(), op.getStateGradient());
  put(getInitialSumMutable(), op.getSumGradient());
  put(getDecayMutable(), op.getDecayGradient());
  put(getEraseMutable(), op.getEraseGradient());
  return gradients;
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// ⟨ō, o⟩ of each row. Of what a readout gives, u = A S, it is ⟨a, ū Sᵀ⟩ with ū = ō / g, a product that Ā is made of anyway.
static Value outputProducts(OpBuilder &builder, NormalizeOp op, Value cotangent, Value numerator) {
  auto readout = op.getNumerator().getDefiningOp<ReadoutOp>();
  if (!readout || readout.getNumerator() != op.getNumerator() || readout.getDenominator() != op.getDenominator())
    return contract(builder, op.getLoc(), cotangent, outputs, op.getOutput(), outputs, rows);
  Value features = contract(builder, op.getLoc(), numerator, outputs, readout.getState(), states, queryFeatures);
  return contract(builder, op.getLoc(), readout.getFeatures(), queryFeatures, features, queryFeatures, rows);
}

/// g of a quotient. Of what a readout gives it is ⟨a, z⟩ of a's row, which is made where a is, and no kernel of its own has to make a once more. Features
/// that do not stand as they are read have sums in units, which the readout alone knows.
static Value divisorOf(OpBuilder &builder, NormalizeOp op) {
  auto readout = op.getNumerator().getDefiningOp<ReadoutOp>();
  auto map = readout ? readout.getFeatures().getDefiningOp<MapOp>() : MapOp();
  if (!map || readout.getDenominator() != op.getDenominator() || shapeOf(readout.getSum())[1] != shapeOf(readout.getFeatures())[1])
    return op.getDenominator();
  if (map.getFeatureMap().isFavor() && map.getFeatureMap().getStabilizer() != Stabilizer::Constant)
    return op.getDenominator();
  Value z = spread(builder, op.getLoc(), readout.getSum(), sums, readout.getFeatures(), queryFeatures);
  return contract(builder, op.getLoc(), readout.getFeatures(), queryFeatures, z, queryFeatures, rows);
}

/// o = u / g: ū = ō / g, ḡ = −⟨ō, o⟩ / g where the guard lets the denominator pass.
SmallVector<Value> NormalizeOp::buildGradients(OpBuilder &builder, ValueRange cotangents) {
  Location loc = getLoc();
  Value denominator = divisorOf(builder, *this);
  Value numerator = NormalizeOp::create(builder, loc, typeLike(builder, getOutput()), cotangents[0], denominator, getGuardAttr());
  if (!denominator)
    return {numerator};
  Value delta = outputProducts(builder, *this, cotangents[0], numerator);
  return {numerator, DenominatorGradientOp::create(builder, loc, delta.getType(), delta, denominator, getGuardAttr(), /*logarithms=*/UnitAttr())};
}
