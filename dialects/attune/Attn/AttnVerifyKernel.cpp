//===- AttnVerifyKernel.cpp - Verifiers of kernel attention and its maps -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

/// A22: E and F of naive FLuRKA.
static LogicalResult checkCompress(KernelOp op) {
  Value e = op.getCompressKey(), f = op.getCompressValue();
  if (static_cast<bool>(e) != static_cast<bool>(f))
    return op.emitOpError() << "expected both E and F, or neither";
  if (!e)
    return success();
  if (op.getCausal() || op.getWindow() || op.getInitialState() || op.getFinalState())
    return op.emitOpError() << "expected compress without causal, window and states";
  if (failed(checkRank(op, "E", e, 3)) || failed(checkRank(op, "F", f, 3)))
    return failure();
  ArrayRef<int64_t> k = shapeOf(op.getKey()), slots = shapeOf(e);
  if (failed(checkShape(op, "E", e.getType(), {slots[0], slots[1], k[2]})) ||
      failed(checkShape(op, "F", f.getType(), {shapeOf(f)[0], slots[1], k[2]})))
    return failure();
  for (auto [what, weight] : {std::pair("E", e), std::pair("F", f)})
    if (!divides(shapeOf(weight)[0], k[1]))
      return op.emitOpError() << "expected a number of heads of " << what << " that divides " << k[1] << ", but got "
                              << shapeOf(weight)[0];
  return success();
}

/// A65: what rows of states stand in.
static LogicalResult checkScale(KernelOp op, Value scale, Value sum, int64_t batch, int64_t heads, int64_t features) {
  if (!scale)
    return success();
  if (!sum || !op.getFeatureMap().isFavor() || !op.getFeatureMap().stabilizerCancels(op.getDenominator()))
    return op.emitOpError() << "expected scales with a state and its sum, and with favor where its stabilizer cancels";
  return checkShape(op, "scale", scale.getType(), {batch, heads, features});
}

/// A66: the places of the first tokens.
static LogicalResult checkPosition(KernelOp op) {
  if (!op.getPosition())
    return success();
  if (op.getFeatureMap().getKind() != FeatureKind::Cosformer || !op.getCausal())
    return op.emitOpError() << "expected causal cosformer with a position, but got "
                            << stringifyFeatureKind(op.getFeatureMap().getKind()) << (op.getCausal() ? "" : " that is not causal");
  return checkShape(op, "position", op.getPosition().getType(), {shapeOf(op.getQuery())[0]});
}

/// A10, A11, A23, A65.
static LogicalResult checkStates(KernelOp op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()), v = shapeOf(op.getValue());
  FeatureMapAttr map = op.getFeatureMap();
  int64_t features = map.getFeatures(q[3]), heads = mappedHeads(k[1], op.getParameter());
  bool divides = !op.getDenominator().getNone();
  if (failed(checkState(op, op.getInitialState(), op.getInitialSum(), {q[0], heads, features, v[3]}, divides)) ||
      failed(checkState(op, op.getFinalState(), op.getFinalSum(), {q[0], heads, features, v[3]}, divides)) || // A10
      failed(checkScale(op, op.getInitialScale(), op.getInitialSum(), q[0], heads, features)) ||
      failed(checkScale(op, op.getFinalScale(), op.getFinalSum(), q[0], heads, features))) // A65
    return failure();
  if (op.getInitialState() && !op.getCausal()) // A11
    return op.emitOpError() << "expected causal with an initial state";
  if (!op.getInitialState() && !op.getFinalState())
    return success();
  if (op.getWindow()) // A23
    return op.emitOpError() << "expected states without a window";
  if (map.hasMaximumOverKeys()) // A23
    return op.emitOpError() << "expected the stabilizer constant or none with states, but got "
                            << stringifyStabilizer(map.getStabilizer());
  return success();
}

/// A48, A49.
static LogicalResult checkDecay(KernelOp op) {
  FeatureMapAttr map = op.getFeatureMap();
  if (op.getDenominator().getNone() && (!op.getCausal() || op.getCompressKey())) // A48
    return op.emitOpError() << "expected causal, and no compress, where nothing divides the output";
  if (!op.getDecay())
    return success();
  if (!op.getCausal() || op.getWindow()) // A49
    return op.emitOpError() << "expected causal, and no window, with decay";
  if (map.isFavor() || map.getKind() == FeatureKind::Cosformer || map.getKind() == FeatureKind::Softmax ||
      map.isSquare()) // A49
    return op.emitOpError() << "expected identity, elu1, relu, favor_relu or focused with decay, but got "
                            << stringifyFeatureKind(map.getKind());
  ArrayRef<int64_t> k = shapeOf(op.getKey());
  return checkGate(op, "decay", op.getDecay(), {k[0], mappedHeads(k[1], op.getParameter()), k[2]}, map.getFeatures(k[3]),
                   /*ofHeads=*/true); // A49
}

/// A57, A58.
static LogicalResult checkGates(KernelOp op) {
  FeatureMapAttr map = op.getFeatureMap();
  bool divides = !op.getDenominator().getNone();
  ArrayRef<int64_t> k = shapeOf(op.getKey());
  SmallVector<int64_t> tokens{k[0], mappedHeads(k[1], op.getParameter()), k[2]};
  bool ordered = op.getCausal() && !op.getWindow();
  if (Value write = op.getWrite()) {
    if (!ordered || op.getCompressKey())
      return op.emitOpError() << "expected causal, no window and no compress with write";
    if (failed(checkGate(op, "write", write, tokens, divides ? 0 : shapeOf(op.getValue())[3])))
      return failure();
  }
  Value erase = op.getErase();
  if (!erase)
    return success();
  if (!ordered || divides)
    return op.emitOpError() << "expected causal, no window and no denominator with erase";
  if (map.getKind() != FeatureKind::Identity && map.getKind() != FeatureKind::Elu1 && map.getKind() != FeatureKind::Relu)
    return op.emitOpError() << "expected identity, elu1 or relu with erase, but got " << stringifyFeatureKind(map.getKind());
  return checkGate(op, "erase", erase, tokens, map.getFeatures(k[3]));
}

LogicalResult KernelOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey());
  FeatureMapAttr map = getFeatureMap();
  if (failed(checkMechanism(*this)) || (getCausal() && failed(checkCausal(*this, q[2], k[2])))) // A1 … A3, A9
    return failure();
  if (failed(checkParameter(*this, map, getParameter(), q[3], q[1])) || failed(checkCompress(*this)) || // A21, A22
      failed(checkStates(*this)) || failed(checkWindow(*this, getWindowAttr(), q[2], k[2])) ||          // A20
      failed(checkPlaces(*this, map, q[2])) || failed(checkPlaces(*this, map, k[2])) ||                 // A25
      failed(checkDecay(*this)) || failed(checkGates(*this)) || failed(checkPosition(*this))) // A48, A49, A57, A58, A66
    return failure();
  bool cancels = map.stabilizerCancels(getDenominator());
  if (getCausal() && map.hasMaximumOverKeys() && !cancels) // A24
    return emitOpError() << "expected the stabilizer constant or none with causal where it does not cancel, but got "
                         << stringifyStabilizer(map.getStabilizer());
  return success();
}

/// A21 of a parameter whose rows are those of the result: a multiple of the source's heads, or 1 for all.
static LogicalResult checkMapParameter(Operation *op, FeatureMapAttr map, Value parameter, ArrayRef<int64_t> source) {
  if (failed(checkParameter(op, map, parameter, source[3], /*heads=*/0)))
    return failure();
  return parameter ? checkHeads(op, mappedHeads(source[1], parameter), source[1]) : success();
}

/// A26: a shift of each feature.
template <typename Op> static LogicalResult checkUnits(Op op, Value features, StringRef what) {
  ArrayRef<int64_t> x = shapeOf(op.getSource());
  FeatureMapAttr map = op.getFeatureMap();
  if (!haveLogarithms(map) || map.hasMaximumOverKeys())
    return op.emitOpError() << "expected focused, or favor without epsilon and a maximum over the keys, with a shift of each feature, but got " << map;
  int64_t heads = mappedHeads(x[1], op.getParameter()), own = shapeOf(op.getShift())[1], count = map.getFeatures(x[3]);
  if (failed(checkHeads(op, heads, own)) || failed(checkShape(op, "shift", op.getShift().getType(), {x[0], own, count})))
    return failure();
  return checkShape(op, what, features.getType(), {x[0], heads, x[2], count}); // A12
}

/// What a map and its gradients read; `features` is what it has made, or the cotangent of that.
template <typename Op> static LogicalResult checkMap(Op op, Value features, StringRef what) {
  ArrayRef<int64_t> x = shapeOf(op.getSource());
  FeatureMapAttr map = op.getFeatureMap();
  if (failed(checkLengths(op, op.getLengths(), x[0])) ||          // A3
      failed(checkMapParameter(op, map, op.getParameter(), x)) || // A21
      failed(checkPlaces(op, map, x[2])))                         // A25
    return failure();
  if (op.getPosition() && map.getKind() != FeatureKind::Cosformer) // A67
    return op.emitOpError() << "expected cosformer with a position, but got " << stringifyFeatureKind(map.getKind());
  if (op.getPosition() && failed(checkShape(op, "position", op.getPosition().getType(), {x[0]}))) // A67
    return failure();
  int64_t heads = mappedHeads(x[1], op.getParameter());
  if (isOfFeatures(op.getShift()))
    return checkUnits(op, features, what);
  bool shifted = op.getKeys() && map.hasMaximumOverKeys();
  if (shifted != static_cast<bool>(op.getShift())) // A26
    return op.emitOpError() << "expected " << (shifted ? "a shift" : "no shift") << " (only keys of favor with the "
                            << "stabilizers max and projection have one)";
  if (op.getShift() && failed(checkShape(op, "shift", op.getShift().getType(), {x[0], heads}))) // A26
    return failure();
  return checkShape(op, what, features.getType(), {x[0], heads, x[2], map.getFeatures(x[3])}); // A12
}

LogicalResult MapOp::verify() { return checkMap(*this, getResult(), "result"); }

/// A103: features are positive, and their logarithms have a gradient.
template <typename Op> static LogicalResult checkLogarithms(Op op) {
  FeatureMapAttr map = op.getFeatureMap();
  if (!op.getLogarithms() || haveLogarithms(map))
    return success();
  return op.emitOpError() << "expected focused, or favor without epsilon, with the cotangent of logarithms, but got " << map;
}

LogicalResult MapGradientOp::verify() {
  ArrayRef<int64_t> c = shapeOf(getCotangent());
  if (failed(checkRank(*this, "cotangent", getCotangent(), 4)) || failed(checkMap(*this, getCotangent(), "cotangent")) ||
      failed(checkLogarithms(*this))) // A103
    return failure();
  return checkShape(*this, "result", getResult().getType(), {c[0], c[1], c[2], shapeOf(getSource())[3]}); // A88
}

LogicalResult MapParameterGradientOp::verify() {
  if (failed(checkMap(*this, getCotangent(), "cotangent")) || failed(checkLogarithms(*this))) // A103
    return failure();
  if (!getParameter()) // A89
    return emitOpError() << "expected a map with a parameter, but got " << stringifyFeatureKind(getFeatureMap().getKind());
  return checkShape(*this, "result", getResult().getType(), shapeOf(getParameter())); // A89
}

LogicalResult KeyMaximumOp::verify() {
  ArrayRef<int64_t> k = shapeOf(getKey());
  bool ofFeatures = isOfFeatures(getResult());
  if (ofFeatures && !haveLogarithms(getFeatureMap())) // A27
    return emitOpError() << "expected focused, or favor without epsilon, for a maximum of each feature, but got " << getFeatureMap();
  if (!ofFeatures && !getFeatureMap().hasMaximumOverKeys()) // A27
    return emitOpError() << "expected favor with the stabilizer max or projection, but got " << getFeatureMap();
  if (failed(checkLengths(*this, getLengths(), k[0])) ||                    // A3
      failed(checkMapParameter(*this, getFeatureMap(), getParameter(), k))) // A21
    return failure();
  SmallVector<int64_t, 3> expected{k[0], mappedHeads(k[1], getParameter())};
  if (ofFeatures)
    expected.push_back(getFeatureMap().getFeatures(k[3]));
  return checkShape(*this, "result", getResult().getType(), expected); // A27
}
