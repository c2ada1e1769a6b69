//===- MechanismRules.cpp - What the fields of a mechanism mean together -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

namespace attune {

namespace {

/// The rules of one part.
class MechanismRules {
public:
  MechanismRules(RuleReporter &rules, const Part &part) : rules(rules), part(part), m(part.mechanism) {}
  void check();

private:
  std::string path(llvm::StringRef field) const { return mechanismPath(part, field); }
  bool good(std::initializer_list<llvm::StringRef> fields) const {
    return llvm::all_of(fields, [&](llvm::StringRef field) { return rules.good({path(field)}); });
  }
  bool is(MechanismKind kind) const { return m.kind == kind; }
  bool causal() const { return rules.spec.causal && rules.good({"causal"}); }
  void checkPolysketch();
  void checkTiles();
  void checkLast();
  void checkAlibi();
  void checkLowRank();
  void checkStabilizer();
  void checkLepe();
  void checkIdentity();
  void checkOrdered(llvm::StringRef field, const std::optional<Per> &per);
  void checkRecurrence();
  void checkCausalKind();
  void checkCausalEva();

  RuleReporter &rules;
  const Part &part;
  const Mechanism &m;
};

} // namespace

/// S33: the exact diagonal blocks belong to the causal form.
void MechanismRules::checkPolysketch() {
  if (m.localExact && good({"kind", "local_exact"}) && rules.good({"causal"}) && !rules.spec.causal)
    rules.atKey(path("local_exact"), "causal: true with local_exact", "causal: false",
                "add `causal: true` or remove `local_exact`");
}

/// S43: tiles cover the grid.
void MechanismRules::checkTiles() {
  if (!m.window || !m.window->grid || !m.window->size || !good({"window.grid", "window.size"}))
    return;
  for (unsigned i = 0; i < 2; ++i) {
    int64_t all = (*m.window->grid)[i], tile = (*m.window->size)[i];
    if (all % tile != 0)
      rules.atValue(path("window.size[" + std::to_string(i) + "]"), "a divisor of " + std::to_string(all), shown(tile),
                    "the tiles must cover the grid exactly");
  }
}

/// S70 and S71: the last keys that a query sees.
void MechanismRules::checkLast() {
  if (!m.window || !m.window->last || !good({"kind", "window"}))
    return;
  if (!is(MechanismKind::Softmax) && !is(MechanismKind::Polynomial)) // S70
    return rules.atKey(path("window.last"), "softmax or polynomial with window.last", nameOf(m.kind).str(),
                       "remove `window`, or write `window: {length: …}`");
  if (rules.good({"causal"}) && !rules.spec.causal) // S71
    rules.atKey(path("window.last"), "causal: true with window.last", "causal: false", "add `causal: true`, or remove `window`");
}

/// S72: compressed keys have no place.
void MechanismRules::checkAlibi() {
  if (m.alibi && m.lowRank && good({"alibi", "low_rank"}))
    rules.atKey(path("alibi"), "either alibi or low_rank", "both", "remove one of the two");
}

/// S44, S45, S46 and S47.
void MechanismRules::checkLowRank() {
  if (!m.lowRank || !good({"kind", "low_rank"}))
    return;
  bool after = m.lowRank->order == CompressionOrder::AfterMap, orderKnown = good({"low_rank.order"});
  if (orderKnown && after && !is(MechanismKind::Kernel))
    rules.atValue(path("low_rank.order"), "before_map with " + nameOf(m.kind).str(), "'after_map'",
                  "only a kernel mechanism has a feature map to come after");
  if (causal())
    rules.atKey(path("low_rank"), "causal: false (E mixes all positions)", "causal: true",
                "remove `low_rank` or `causal`");
  if (m.window && !is(MechanismKind::Eva))
    rules.atKey(path("low_rank"), "either low_rank or window", "both", "remove one of the two");
  if (orderKnown && !after && good({"feature_map.kind"}) && m.isKernel(FeatureMapKind::Cosformer))
    rules.atKey(path("low_rank"), "a feature map without positions before low_rank", "cosformer",
                "write `order: after_map` and `denominator: none`, or take another map");
}

/// S38: what makes FAVOR's key maximum part of the function.
void MechanismRules::checkStabilizer() {
  bool overKeys = m.featureMap.stabilizer == Stabilizer::Max || m.featureMap.stabilizer == Stabilizer::Projection;
  if (!good({"kind", "feature_map.kind", "feature_map.stabilizer"}) || !m.isKernel(FeatureMapKind::Favor) ||
      !overKeys || !causal() || !good({"denominator", "denominator.bias", "denominator.floor", "feature_map.epsilon"}))
    return;
  bool guarded = m.featureMap.epsilon > 0 || m.denominator.bias > 0 || m.denominator.floor > 0;
  if (guarded && !m.denominator.none)
    rules.atValue(path("feature_map.stabilizer"),
                  "constant or none (a maximum over the keys leaks the future when epsilon or the denominator's guard "
                  "is not 0)",
                  m.featureMap.stabilizer == Stabilizer::Max ? "'max'" : "'projection'",
                  "write `stabilizer: constant`, or make epsilon and the guard 0");
}

/// S50 and S51.
void MechanismRules::checkLepe() {
  if (!m.lepe || !good({"kind", "lepe"}))
    return;
  if (causal())
    rules.atKey(path("lepe"), "causal: false with lepe", "causal: true",
                "the convolution reads the next token: remove `lepe` or `causal`");
  if (m.lepe->grid && good({"lepe.grid", "window"}) && m.window && !is(MechanismKind::Eva))
    rules.atKey(path("lepe.grid"), "no grid (the window fixes it)", "'grid'", "remove `grid`");
}

/// S55: without a mask, keys and values of any sign would meet as one product that nothing divides.
void MechanismRules::checkIdentity() {
  if (good({"kind", "feature_map.kind"}) && m.isKernel(FeatureMapKind::Identity) && rules.good({"causal"}) && !rules.spec.causal)
    rules.atValue(path("feature_map.kind"), "causal: true with identity", "causal: false",
                  "add `causal: true`, or take another map");
}

/// S56, S57: what a state that tokens change in their order forbids.
void MechanismRules::checkOrdered(llvm::StringRef field, const std::optional<Per> &per) {
  if (!per || !good({"kind", field}))
    return;
  if (!rules.spec.causal && rules.good({"causal"})) // S56
    rules.atKey(path(field), "causal: true with " + field.str(), "causal: false",
                "the state of all keys has no order: add `causal: true`");
  std::pair<llvm::StringRef, bool> others[] = {{"window", m.window.has_value()}, {"lepe", m.lepe.has_value()}};
  for (auto [other, isThere] : others) // S57
    if (isThere)
      rules.atKey(path(other), "either " + other.str() + " or " + field.str(), "both", "remove one of the two");
}

/// S56 … S62: a state that decays, from which keys erase, which they write.
void MechanismRules::checkRecurrence() {
  checkOrdered("decay", m.decay), checkOrdered("erase", m.erase), checkOrdered("write", m.write);
  bool any = m.decay || m.erase || m.write;
  if (!any || !good({"kind", "feature_map.kind"}))
    return;
  using Kind = FeatureMapKind;
  auto wrongMap = [&](llvm::StringRef field, llvm::StringRef maps) {
    rules.atKey(path(field), "one of " + maps.str() + " with " + field.str(),
                attn::stringifyFeatureKind(m.featureMap.kind).str(), "remove `" + field.str() + "`, or take one of these maps");
  };
  if (m.decay && good({"decay"}) && (m.isKernel(Kind::Favor) || m.isKernel(Kind::Cosformer))) // S58
    wrongMap("decay", "identity, elu1, relu, favor_relu, focused");
  bool ofHeads = m.featureMap.perHead || m.isKernel(Kind::Focused), shared = rules.good({"heads", "kv_heads"}) && rules.spec.headsPerKvHead() > 1;
  if (ofHeads && shared) // S59
    rules.atValue(path("feature_map.kind"), "kv_heads = heads for a feature map with parameters of each query head",
                  std::to_string(rules.spec.kvHeads) + " and " + std::to_string(rules.spec.heads),
                  "query heads that share a key-value head share its state");
  if (m.erase && good({"erase"}) && !m.isKernel(Kind::Identity) && !m.isKernel(Kind::Elu1) && !m.isKernel(Kind::Relu)) // S60
    wrongMap("erase", "identity, elu1, relu");
  if (!good({"denominator"}) || m.denominator.none)
    return;
  if (m.erase && good({"erase"})) // S61
    rules.atKey(path("erase"), "denominator: none with erase", "a denominator", "write `denominator: none`");
  if (m.write == Per::Channel && good({"write", "write.per"})) // S62
    rules.atValue(path("write.per"), "token for 'per' (a denominator counts a token once)", "'channel'",
                  "write `per: token` or `denominator: none`");
}

/// S52: mechanisms that mix all tokens.
void MechanismRules::checkCausalKind() {
  if (causal() && good({"kind"}) && (is(MechanismKind::Effatt) || is(MechanismKind::Agent)))
    rules.atValue(path("kind"), "causal: false with " + nameOf(m.kind).str(), "causal: true",
                  "this mechanism mixes all tokens: remove `causal` or take another kind");
}

/// S53: a decoder's chunks lie inside its windows.
void MechanismRules::checkCausalEva() {
  if (!causal() || !good({"kind"}) || !is(MechanismKind::Eva))
    return;
  if (!m.window) {
    if (good({"window"}))
      rules.state.error(rules.spec.placeOf(part.path + "mechanism").value, "key 'window' in mechanism eva (causal)",
                        "none", "add `window: {length: …}`");
    return;
  }
  if (m.window->length && good({"window.length", "chunk"}) && *m.window->length % m.chunk != 0)
    rules.atValue(path("chunk"), "a divisor of window.length = " + std::to_string(*m.window->length) + " (causal)",
                  shown(m.chunk), "a window of a causal eva is made of whole chunks");
}

void MechanismRules::check() {
  if (is(MechanismKind::Polysketch))
    checkPolysketch();
  checkTiles();
  checkLast();
  checkAlibi();
  checkLowRank();
  checkStabilizer();
  checkLepe();
  checkIdentity();
  checkRecurrence();
  checkCausalKind();
  checkCausalEva();
}

void checkMechanismRules(RuleReporter &rules, const Part &part) { MechanismRules(rules, part).check(); }

} // namespace attune
