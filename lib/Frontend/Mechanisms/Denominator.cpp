//===- Denominator.cpp - What weighted sums are divided by ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "../MechanismKind.h"

namespace attune {

namespace {
struct DenominatorField : MechanismField {
  constexpr DenominatorField() : MechanismField("denominator") {}
  void conclude(Fields &mechanism, Mechanism &m) const override;
  void visit(FieldIO &mechanism, Mechanism &m) const override;
};
} // namespace

static void visitGuard(FieldIO &fields, Mechanism &m) {
  fields.atLeastZero("bias", m.denominator.bias, 0), fields.atLeastZero("floor", m.denominator.floor, m.featureMap.floor);
}

/// S35: `none`, a mapping, or something wrong. Whether `none` is allowed depends on `low_rank.order` and on `causal`; where one of
/// them is wrong itself, nothing is reported of `none`.
void DenominatorField::conclude(Fields &fields, Mechanism &m) const {
  ParseState &state = fields.parseState();
  bool orderKnown = state.isGood(fields.pathOf("low_rank.order"));
  bool naive = m.isKernel() && m.lowRank && m.lowRank->order == CompressionOrder::AfterMap;
  const YamlNode *node = fields.valueOf(name);
  m.denominator.none = node && scalarOf(*node).type == ScalarValue::String && node->text == "none";
  if (!orderKnown && (!node || node->kind != YamlNode::Mapping))
    return state.markBad(fields.pathOf(name));
  if (naive && orderKnown) {
    if (!node)
      fields.missing(name);
    else if (!m.denominator.none)
      fields.wrongValue(name, "none with order: after_map (a signed E makes the row sum change sign)", "write `denominator: none`");
    return;
  }
  if (m.denominator.none) {
    bool mayBeNone = m.isKernel() && (state.spec.causal || !state.isGood("causal"));
    if (!mayBeNone)
      fields.wrongValue(name, "a mapping (none only with order: after_map or a causal kernel)",
                        "write {bias: 0, floor: 0} or remove it");
    return;
  }
  if (!node) {
    m.denominator.none = m.isKernel() && !m.featureMap.divides;
    return;
  }
  Fields guard = fields.submap(name, "denominator");
  guard.allowOnly({"bias", "floor"}, name);
  FieldIO io(guard);
  visitGuard(io, m);
}

void DenominatorField::visit(FieldIO &mechanism, Mechanism &m) const {
  if (!mechanism.out)
    return;
  FlowMap text;
  FieldIO io(text);
  visitGuard(io, m);
  bool standard = m.denominator.none == !m.featureMap.divides && text.empty();
  if (!standard)
    mechanism.out->add(name, m.denominator.none ? "none" : text.str());
}

attn::DenominatorAttr PartBuilder::guard() const {
  bool none = m.denominator.none && !m.lowRank; // compressed features have no denominator, whatever is written
  return attn::DenominatorAttr::get(b.builder.getContext(), none ? 0 : m.denominator.bias, none ? 0 : m.denominator.floor, none);
}

static constexpr DenominatorField denominator;
const MechanismField &denominatorField = denominator;

} // namespace attune
