//===- BuildMechanism.cpp - Mechanisms as ops of the attn dialect --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnBuilder.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace attune {

namespace {

/// Builds the mechanism of one part.
class MechanismBuilder {
public:
  MechanismBuilder(AttnBuilder &b, const Part &part, const Heads &heads, Value lengths, Type output)
      : b(b), part(part), m(part.mechanism), q(heads.query), k(heads.key), v(heads.value), lengths(lengths),
        output(output), place(b.at(part, "")) {}
  Value build();

private:
  FloatAttr scale() { return b.number(b.spec.logitScale(part)); }
  UnitAttr causal() { return b.unitIf(b.spec.causal); }
  IntegerAttr last() { return m.window && m.window->last ? b.integer(*m.window->last) : IntegerAttr(); }
  attn::DenominatorAttr guard();
  attn::FeatureMapAttr featureMap();
  Value buildSoftmax();
  Value buildPolynomial();
  Value buildKernel();
  Value buildPolysketch();
  Value buildEffatt();
  Value buildEva();
  Value buildAgent();

  AttnBuilder &b;
  const Part &part;
  const Mechanism &m;
  Value q, k, v, lengths;
  Type output;
  Location place;
};

} // namespace

attn::DenominatorAttr MechanismBuilder::guard() {
  bool none = m.denominator.none && !m.lowRank; // compressed features have no denominator, whatever is written
  return attn::DenominatorAttr::get(b.builder.getContext(), none ? 0 : m.denominator.bias, none ? 0 : m.denominator.floor, none);
}

attn::FeatureMapAttr MechanismBuilder::featureMap() {
  const FeatureMap &map = m.featureMap;
  double logits = map.normalize ? b.spec.logitScale(part) : 0;
  // Without a normaliser nothing would undo the stabilizer, so there is none.
  bool unstabilized = map.kind == FeatureMapKind::Favor && m.denominator.none;
  return attn::FeatureMapAttr::get(b.builder.getContext(), map.kind, map.features, map.epsilon, logits, map.power,
                                   map.maxPosition, unstabilized ? Stabilizer::None : map.stabilizer);
}

Value MechanismBuilder::buildSoftmax() {
  Type lse = b.spec.lse ? b.typeOf(lseTensor(b.spec)) : Type();
  auto softmax = attn::SoftmaxOp::create(b.builder, place, output, lse, q, k, v, lengths, b.parameter(part, "slope"), scale(), causal(),
                                         buildWindow(b, m), last(), m.softcap ? b.number(*m.softcap) : FloatAttr(), /*execution=*/{});
  b.lse = softmax.getLse();
  return softmax.getOutput();
}

Value MechanismBuilder::buildPolynomial() {
  return attn::PolynomialOp::create(b.builder, place, output, q, k, v, lengths, b.integer(m.degree), scale(), guard(),
                                    causal(), buildWindow(b, m), last())
      .getOutput();
}

Value MechanismBuilder::buildKernel() {
  Value omega = b.parameter(part, "omega"), parameter = omega ? omega : b.parameter(part, "focus"), e, f;
  Value decay = b.parameter(part, "log_decay");
  if (m.denominator.none && m.lowRank) { // the features of the keys are compressed, not the keys
    e = b.parameter(part, "e");
    f = m.lowRank->tied ? e : b.parameter(part, "f");
  }
  return attn::KernelOp::create(b.builder, place, output, Type(), Type(), q, k, v, lengths, Value(), Value(), parameter,
                                e, f, decay ? decay : b.parameter(part, "g"), b.parameter(part, "beta"), b.parameter(part, "w"), featureMap(),
                                guard(), causal(), buildWindow(b, m))
      .getOutput();
}

Value MechanismBuilder::buildPolysketch() {
  SmallVector<Value> signs, indices;
  auto add = [&](const std::string &node, const std::string &side) {
    signs.push_back(b.parameter(part, node + ".sign" + side));
    indices.push_back(b.parameter(part, node + ".index" + side));
  };
  for (int64_t i = 0; i < m.degree / 2; ++i)
    add("sketch.leaf" + std::to_string(i), "");
  for (int64_t j = 0; j + 1 < m.degree / 2; ++j)
    for (const char *side : {"_a", "_b"})
      add("sketch.node" + std::to_string(j), side);
  IntegerAttr block = m.localExact ? b.integer(*m.localExact) : IntegerAttr();
  return attn::PolysketchOp::create(b.builder, place, output, q, k, v, lengths, signs, indices, b.integer(m.degree),
                                    b.integer(m.sketchSize), block, scale(), guard(), causal(), /*execution=*/{})
      .getOutput();
}

Value MechanismBuilder::buildEffatt() {
  return attn::EffattOp::create(b.builder, place, output, q, k, v, lengths).getOutput();
}

Value MechanismBuilder::buildEva() {
  IntegerAttr local = m.window ? b.integer(*m.window->length) : IntegerAttr();
  return attn::EvaOp::create(b.builder, place, output, q, k, v, lengths, b.integer(m.chunk), local,
                             b.number(m.muWeight), scale(), b.unitIf(m.excludeLocal), b.unitIf(m.mass), causal())
      .getOutput();
}

Value MechanismBuilder::buildAgent() {
  return attn::AgentOp::create(b.builder, place, output, q, k, v, lengths, b.integer(m.agents), scale()).getOutput();
}

Value MechanismBuilder::build() {
  switch (m.kind) {
  case MechanismKind::Softmax:
    return buildSoftmax();
  case MechanismKind::Polynomial:
    return buildPolynomial();
  case MechanismKind::Kernel:
    return buildKernel();
  case MechanismKind::Polysketch:
    return buildPolysketch();
  case MechanismKind::Effatt:
    return buildEffatt();
  case MechanismKind::Eva:
    return buildEva();
  case MechanismKind::Agent:
    return buildAgent();
  }
  llvm_unreachable("every kind of mechanism is above");
}

attn::WindowAttr buildWindow(AttnBuilder &b, const Mechanism &mechanism) {
  if (!mechanism.window || mechanism.window->last)
    return {};
  const Window &window = *mechanism.window;
  if (window.length)
    return attn::WindowAttr::get(b.builder.getContext(), *window.length);
  return attn::WindowAttr::get(b.builder.getContext(), (*window.size)[0], (*window.size)[1], (*window.grid)[0],
                               (*window.grid)[1]);
}

Value buildMechanism(AttnBuilder &b, const Part &part, const Heads &heads, Value lengths, Type output) {
  return MechanismBuilder(b, part, heads, lengths, output).build();
}

} // namespace attune
