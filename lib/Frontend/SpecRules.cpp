//===- SpecRules.cpp - What the fields of a spec mean together -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

namespace attune {

/// S12: kv_heads divides heads.
static void checkKvHeads(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!rules.good({"heads"}))
    return rules.state.markBad("kv_heads"); // its default, or what it must divide, is not known
  if (!rules.good({"kv_heads"}) || spec.heads % spec.kvHeads == 0)
    return;
  rules.atValue("kv_heads", "a divisor of heads = " + std::to_string(spec.heads), shown(spec.kvHeads),
                "every key-value head serves the same number of query heads");
  rules.state.markBad("kv_heads");
}

/// S16: rope turns pairs of channels.
static void checkRope(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (spec.rope && rules.good({"rope", "head_dim"}) && spec.headDim % 2 != 0)
    rules.atKey("rope", "an even head_dim with rope", "head_dim " + std::to_string(spec.headDim),
                "rope turns pairs of channels: remove it or make head_dim even");
}

/// S20 and S21: what the heads of the parts add up to.
static void checkPartHeads(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.hasParts || !rules.good({"parts", "heads", "kv_heads", "mechanism"}) || spec.parts.empty())
    return;
  int64_t group = spec.headsPerKvHead(), sum = 0;
  bool good = true;
  for (const Part &part : spec.parts) {
    if (part.path.empty()) // `mechanism` beside `parts`, which is reported already
      return;
    std::string path = part.path + "heads";
    sum += part.heads;
    bool known = rules.good({path});
    good &= known && part.heads % group == 0;
    if (known && part.heads % group != 0)
      rules.atValue(path, "a multiple of heads / kv_heads = " + std::to_string(group), shown(part.heads),
                    "a part takes whole groups of the query heads that share a key-value head");
  }
  if (good && sum != spec.heads)
    rules.atKey("parts", "parts whose heads add up to " + std::to_string(spec.heads), std::to_string(sum),
                "change `heads` of a part, or of the spec");
}

/// S15: somebody uses the scale.
static void checkScale(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.scale || spec.parts.empty() || !rules.good({"scale", "mechanism", "parts"}))
    return;
  for (const Part &part : spec.parts) {
    bool known = rules.good({mechanismPath(part, "kind"), mechanismPath(part, "feature_map.kind"),
                             mechanismPath(part, "feature_map.normalize")});
    if (!known || part.mechanism.isScaled())
      return;
  }
  const Mechanism &first = spec.parts.front().mechanism;
  std::string got = nameOf(first.kind).str();
  if (first.kind == MechanismKind::Kernel)
    got += " with " + attn::stringifyFeatureKind(first.featureMap.kind).str();
  rules.atKey("scale", "a mechanism that has a logit scale", got, "remove `scale`: it would change nothing");
}

/// Of the forms with a state, the part's windows and slots leave all, or one.
static bool takesForm(const Part &part, llvm::StringRef form) {
  const Mechanism &m = part.mechanism;
  if (m.kind == MechanismKind::Polysketch)
    return true;
  if (m.kind != MechanismKind::Kernel)
    return false;
  bool compressed = m.lowRank && m.lowRank->order == CompressionOrder::AfterMap;
  return (form == "quadratic" && !compressed) || (form != "quadratic" && !m.window);
}

/// S24, of the parts.
static void checkPinnedParts(RuleReporter &rules, llvm::StringRef form) {
  for (const Part &part : rules.spec.parts)
    if (!rules.good({mechanismPath(part, "window"), mechanismPath(part, "low_rank"), mechanismPath(part, "low_rank.order")}) ||
        takesForm(part, form))
      return;
  if (form == "quadratic")
    rules.atValue("pin.linearize", "state with order: after_map", "'quadratic'",
                  "compressed features make no pair weights");
  else
    rules.atValue("pin.linearize", "quadratic with a window", ("'" + form + "'").str(),
                  "the blocks of a window would each have a state of their own");
}

/// S24: a pinned form must be able to compute the spec.
static void checkPins(RuleReporter &rules) {
  Spec &spec = rules.spec;
  std::optional<std::string> form = spec.pinnedForm("linearize");
  if (!form || spec.parts.empty())
    return;
  bool kernel = false;
  for (const Part &part : spec.parts) {
    if (!rules.good({mechanismPath(part, "kind")}))
      return;
    kernel |= part.mechanism.kind == MechanismKind::Kernel || part.mechanism.kind == MechanismKind::Polysketch;
  }
  if (!kernel)
    return rules.atKey("pin.linearize", "a mechanism with features for linearize",
                       nameOf(spec.parts.front().mechanism.kind).str(),
                       "remove the pin: there is no state to go through");
  if (!rules.good({"causal"}))
    return;
  if (llvm::is_contained({"chunked", "split", "grouped"}, *form) && !spec.causal)
    return rules.atValue("pin.linearize", "quadratic or state with causal: false", "'" + *form + "'",
                  "chunks carry the state from the past to the future: only a causal spec has them");
  if (llvm::is_contained({"state", "fused_state", "merged_state"}, *form) && spec.causal)
    return rules.atValue("pin.linearize", "quadratic or chunked with causal: true", "'" + *form + "'",
                  "one state of all keys would let every query see the future");
  if (*form == "grouped" && rules.good({"heads", "kv_heads"}) && spec.headsPerKvHead() == 1)
    return rules.atValue("pin.linearize", "quadratic or chunked with as many kv_heads as heads", "'grouped'",
                         "every query head has keys of its own: there are no groups");
  checkPinnedParts(rules, *form);
}

/// S24: `fold` needs a projection whose tokens meet random features.
static void checkFoldPin(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.pinnedForm("fold") || spec.parts.empty())
    return;
  bool random = false;
  for (const Part &part : spec.parts) {
    if (!rules.good({mechanismPath(part, "kind"), mechanismPath(part, "feature_map.kind")}))
      return;
    random |= part.mechanism.isKernel(FeatureMapKind::Favor) || part.mechanism.isKernel(FeatureMapKind::FavorRelu);
  }
  if (!random)
    return rules.atKey("pin.fold", "a mechanism with random features for fold",
                       nameOf(spec.parts.front().mechanism.kind).str(),
                       "remove the pin: there is nothing to fold a weight with");
  if (!spec.projection)
    rules.atKey("pin.fold", "a projection for fold", "none", "remove the pin: there is no weight to fold");
}

/// S24: `low_rank` needs slots of projected tokens.
static void checkLowRankPin(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.pinnedForm("low_rank") || spec.parts.empty())
    return;
  bool slots = false;
  for (const Part &part : spec.parts) {
    if (!rules.good({mechanismPath(part, "kind"), mechanismPath(part, "low_rank"), mechanismPath(part, "low_rank.order")}))
      return;
    slots |= part.mechanism.lowRank && part.mechanism.lowRank->order == CompressionOrder::BeforeMap;
  }
  if (!slots)
    return rules.atKey("pin.low_rank", "a mechanism with low_rank before its map",
                       nameOf(spec.parts.front().mechanism.kind).str(),
                       "remove the pin: there are no tokens to compress before or after their projection");
  if (!spec.projection)
    rules.atKey("pin.low_rank", "a projection for low_rank", "none",
                "remove the pin: there is no projection for the compression to go before");
}

/// S24: `project` needs a projection.
static void checkProjectPin(RuleReporter &rules) {
  if (rules.spec.pinnedForm("project") && rules.good({"projection"}) && !rules.spec.projection)
    rules.atKey("pin.project", "a projection for project", "none", "remove the pin: tokens are inputs as they are");
}

/// S24: `project_out` needs an output projection.
static void checkProjectOutPin(RuleReporter &rules) {
  const Spec &spec = rules.spec;
  if (!spec.pinnedForm("project_out") || !rules.good({"projection", "projection.output"}))
    return;
  if (!spec.projection || !spec.projection->output)
    rules.atKey("pin.project_out", "an output projection for project_out", "none",
                "remove the pin: the heads are the output as they are");
}

/// S24: `map` needs features of keys that a kernel maps on the way.
static void checkMapPin(RuleReporter &rules) {
  Spec &spec = rules.spec;
  std::optional<std::string> form = spec.pinnedForm("map");
  if (!form || spec.parts.empty())
    return;
  bool kernel = false, mapped = false;
  for (const Part &part : spec.parts) {
    if (!rules.good({mechanismPath(part, "kind"), mechanismPath(part, "low_rank"), mechanismPath(part, "low_rank.order")}))
      return;
    const Mechanism &m = part.mechanism;
    bool afterMap = m.lowRank && m.lowRank->order == CompressionOrder::AfterMap;
    kernel |= m.kind == MechanismKind::Kernel;
    mapped |= m.kind == MechanismKind::Kernel && !afterMap;
  }
  if (!kernel)
    return rules.atKey("pin.map", "a mechanism with a feature map for map", nameOf(spec.parts.front().mechanism.kind).str(),
                       "remove the pin: there are no features of keys");
  if (!mapped && *form == "materialized")
    rules.atValue("pin.map", "fused with order: after_map", "'materialized'",
                  "the features are compressed by the kernel that makes them");
}

/// S24: `launch` needs parts.
static void checkLaunchPin(RuleReporter &rules) {
  std::optional<std::string> form = rules.spec.pinnedForm("launch");
  if (form && rules.spec.parts.size() == 1)
    rules.atKey("pin.launch", "parts for launch", "one mechanism", "remove the pin: there is nothing to run together with");
}

/// S24: `keys` needs exact attention. What of it can take a form, its law says.
static void checkKeysPin(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.pinnedForm("keys") || spec.parts.empty())
    return;
  for (const Part &part : spec.parts)
    if (!rules.good({mechanismPath(part, "kind")}) || part.mechanism.kind == MechanismKind::Softmax)
      return;
  rules.atKey("pin.keys", "softmax for keys", nameOf(spec.parts.front().mechanism.kind).str(),
              "remove the pin: only exact attention has its keys in order or split");
}

void checkRules(RuleReporter &rules) {
  checkKvHeads(rules);
  checkRope(rules);
  checkPartHeads(rules);
  for (const Part &part : rules.spec.parts)
    checkMechanismRules(rules, part);
  checkScale(rules);
  checkPins(rules);
  checkFoldPin(rules);
  checkLowRankPin(rules);
  checkProjectPin(rules);
  checkProjectOutPin(rules);
  checkMapPin(rules);
  checkLaunchPin(rules);
  checkKeysPin(rules);
}

} // namespace attune
