//===- Kernel.cpp - Attention of feature maps ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"
#include "FeatureMap.h"

namespace attune {

static constexpr llvm::StringRef kernelFields[] = {"kind",   "feature_map", "denominator", "low_rank",
                                                   "window", "lepe",        "decay",       "erase", "write"};

/// The number of features of a part.
static int64_t featuresOf(const Spec &spec, const Mechanism &m) {
  if (m.isKernel(FeatureMapKind::Cosformer))
    return 2 * spec.headDim;
  return m.featureMap.features ? m.featureMap.features : spec.headDim;
}

namespace {
struct Kernel : MechanismKind {
  constexpr Kernel() : MechanismKind("kernel", kernelFields) {}
  bool hasPacked() const override { return true; }
  bool hasState() const override { return true; }
  void addState(const PartState &of) const override {
    int64_t heads = of.part.heads / of.spec.headsPerKvHead(), features = featuresOf(of.spec, of.m);
    of.add("s", {of.spec.states(), heads, features, of.spec.valueDim}, Elements::Normal);
    if (of.m.denominator.none)
      return;
    of.add("z", {of.spec.states(), heads, features}, Elements::Gate);
    if (of.m.keepsStateRescaled())
      of.add("scale", {of.spec.states(), heads, features}, Elements::Normal);
  }
  bool isScaled(const Mechanism &m) const override { return m.featureMap.normalize; }
  void visit(FieldIO &fields, Mechanism &) const override {
    if (fields.in)
      fields.in->require("feature_map");
  }
  void checkSizes(PartSizes &of) const override { of.checkCausal(); }
  mlir::Value build(PartBuilder &of) const override {
    mlir::Value omega = of.parameter("omega"), parameter = omega ? omega : of.parameter("focus"), e, f;
    mlir::Value decay = of.parameter("log_decay");
    if (of.m.denominator.none && of.m.lowRank) { // the features of the keys are compressed, not the keys
      e = of.parameter("e");
      f = of.m.lowRank->tied ? e : of.parameter("f");
    }
    mlir::Type types[3] = {}; // of S, z and what they stand in
    if (of.b.spec.finalState)
      for (auto [type, tensor] : llvm::zip(types, stateTensors(of.b.spec, of.part, finalPrefix)))
        type = of.b.typeOf(tensor);
    mlir::Value position = hasPlaces(of.m) ? of.b.argument("state.position") : mlir::Value();
    auto op = attn::KernelOp::create(of.b.builder, of.place, of.output, types[0], types[1], types[2], of.q, of.k, of.v, of.lengths,
                                     of.parameter("state.s"), of.parameter("state.z"), parameter, e, f,
                                     decay ? decay : of.parameter("g"), of.parameter("beta"), of.parameter("w"),
                                     of.parameter("state.scale"), position, of.featureMap(), of.guard(), of.causal(), of.window());
    llvm::append_range(of.b.finalStates, op->getResults().drop_front());
    return op.getOutput();
  }
};
} // namespace

static constexpr Kernel kernel;
const MechanismKind &kernelKind = kernel;

} // namespace attune
