//===- LowRank.cpp - Compression of the tokens ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FeatureMap.h"

#include "../MechanismKind.h"

namespace attune {

namespace {
struct LowRankField : MechanismField {
  constexpr LowRankField() : MechanismField("low_rank") {}
  void visit(FieldIO &mechanism, Mechanism &m) const override {
    mechanism.map<LowRank>(name, m.lowRank, {"rank", "tied", "per_head", "order"}, [](FieldIO &fields, LowRank &of) {
      fields.size("rank", of.rank), fields.boolean("tied", of.tied, true), fields.boolean("per_head", of.perHead);
      fields.choice("order", of.order, {"before_map", "after_map"});
    });
  }
  void check(PartRules &of) const override;
  void addParameters(PartTensors &tensors) const override {
    const std::optional<LowRank> &lowRank = tensors.m.lowRank;
    if (!lowRank)
      return;
    PartTensors::Shape shape = {lowRank->perHead ? tensors.sharedHeads() : 1, lowRank->rank, tensors.spec.keys};
    double deviation = 1 / std::sqrt(static_cast<double>(lowRank->rank));
    tensors.add("e", shape, name, Elements::Normal, deviation);
    if (!lowRank->tied)
      tensors.add("f", shape, name, Elements::Normal, deviation);
  }
};
} // namespace

/// S44, S45, S46 and S47.
void LowRankField::check(PartRules &of) const {
  const Mechanism &m = of.m;
  if (!m.lowRank || !of.good({"kind", name}))
    return;
  bool after = m.lowRank->order == CompressionOrder::AfterMap, orderKnown = of.good({"low_rank.order"});
  if (orderKnown && after && !m.isKernel())
    of.atValue("low_rank.order", "before_map with " + m.name().str(), "'after_map'",
               "only a kernel mechanism has a feature map to come after");
  if (of.causal())
    of.atKey(name, "causal: false (E mixes all positions)", "causal: true", "remove `low_rank` or `causal`");
  if (m.window && !m.kind->hasOwnWindow())
    of.atKey(name, "either low_rank or window", "both", "remove one of the two");
  if (orderKnown && !after && of.good({"feature_map.kind"}) && hasPlaces(m))
    of.atKey(name, "a feature map without positions before low_rank", attn::stringifyFeatureKind(m.featureMap.kind).str(),
             "write `order: after_map` and `denominator: none`, or take another map");
}

static constexpr LowRankField lowRank;
const MechanismField &lowRankField = lowRank;

} // namespace attune
