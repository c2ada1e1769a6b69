//===- SpecRules.cpp - What the fields of a spec mean together -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"

#include "attune/Frontend/SpecParser.h"

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

/// S13: values have whole groups of the heads of q and k, and all parts a state of their own heads.
static void checkQkHeads(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.qkHeads || !rules.good({"qk_heads"}))
    return;
  auto refuse = [&](bool wrong, auto report) {
    if (wrong)
      report(), rules.state.markBad("qk_heads");
  };
  refuse(rules.state.spec.places.contains("kv_heads"), [&] {
    rules.atKey("qk_heads", "either kv_heads or qk_heads", "both", "remove one of the two");
  });
  if (rules.good({"heads", "qk_heads"}))
    refuse(spec.heads % *spec.qkHeads != 0, [&] {
      rules.atValue("qk_heads", "a divisor of heads = " + std::to_string(spec.heads), shown(*spec.qkHeads),
                    "every head of q and k serves the same number of heads of values");
    });
  auto other = llvm::find_if(spec.parts, [](const Part &part) { return !part.mechanism.kind->hasState(); });
  bool isOther = other != spec.parts.end();
  if (rules.good({"causal", "mechanism", "parts"}) && (isOther || !spec.causal))
    rules.atKey("qk_heads", "a causal kernel mechanism with qk_heads", isOther ? other->mechanism.name().str() : "causal: false",
                "write `kv_heads` for heads that share keys and values");
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
  std::string got = first.name().str();
  if (first.isKernel())
    got += " with " + attn::stringifyFeatureKind(first.featureMap.kind).str();
  rules.atKey("scale", "a mechanism that has a logit scale", got, "remove `scale`: it would change nothing");
}

/// S90: sequences take the place of a batch.
static void checkSequences(RuleReporter &rules) {
  Spec &spec = rules.spec;
  auto given = [&](llvm::StringRef field) { return spec.places.contains(field); };
  if (!rules.good({"packed"}))
    return;
  if (spec.packed && given("batch"))
    rules.atKey("batch", "no batch with packed: true (give sequences)", "'batch'", "remove `batch`: the sequences take its place");
  if (!spec.packed && given("sequences"))
    rules.atKey("sequences", "packed: true with sequences", "packed: false", "write `packed: true`, or `batch` for sequences of one length");
  if (spec.packed && spec.keyLengths && rules.good({"key_lengths"}))
    rules.atKey("key_lengths", "no key_lengths with packed: true", "true", "remove it: the offsets say how long a sequence is");
}

/// S91: what mixes all tokens, or lies in a grid, has no sequences of any length.
static void checkPackedPart(PartRules &of) {
  const Mechanism &m = of.m;
  if (!of.spec.packed || !of.rules.good({"packed"}))
    return;
  auto no = [&](llvm::StringRef field) {
    of.atKey(field, "no " + field.str() + " with packed: true", "'" + field.str() + "'", "remove one of the two");
  };
  if (m.lowRank)
    no("low_rank");
  if (m.lepe)
    no("lepe");
  if (m.window && m.window->grid)
    no("window.grid");
  if (!of.good({"kind"}))
    return;
  llvm::StringRef kind = m.name();
  if (!m.kind->hasPacked())
    of.atValue("kind", "packed: false with " + kind.str(), "packed: true", "remove `packed`, or take another kind");
}

/// S73: the sums of exponentials are those of one softmax.
static void checkLse(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.lse || spec.parts.empty() || !rules.good({"results", "parts", "mechanism"}) ||
      !rules.good({mechanismPath(spec.parts.front(), "kind")}))
    return;
  bool one = spec.parts.size() == 1;
  if (!one || spec.parts.front().mechanism.name() != "softmax")
    rules.state.error(spec.placeOf("results[0]").value, "one softmax mechanism with lse",
                      one ? spec.parts.front().mechanism.name().str() : "parts", "remove `results`");
}

/// S25: lists of parameters stay short.
void checkParameterCount(RuleReporter &rules) {
  int64_t count = 0;
  for (const Part &part : rules.spec.parts) {
    count += part.mechanism.kind->parametersAtMost(part.mechanism);
    if (count <= mostParameters)
      continue;
    llvm::StringRef field = part.mechanism.sketchSize ? "degree" : "kind";
    rules.atValue(mechanismPath(part, field), "at most " + std::to_string(mostParameters) + " parameters",
                  "about " + std::to_string(count) + " (not supported)", "lower the degree, or merge parts");
    return;
  }
}

void PartRules::refuseCausal() {
  if (causal() && good({"kind"}))
    rules.atValue(path("kind"), "causal: false with " + m.name().str(), "causal: true",
                  "this mechanism mixes all tokens: remove `causal` or take another kind");
}

/// S80 and S81: what tokens leave to those that come after them.
static void checkState(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.hasState() || !rules.good({"state", "causal", "mechanism", "parts"}))
    return;
  auto other = llvm::find_if(spec.parts, [](const Part &part) { return !part.mechanism.kind->hasState(); });
  for (const Part &part : spec.parts)
    if (!rules.good({mechanismPath(part, "kind")}))
      return;
  for (const Part &part : spec.parts)
    if (part.mechanism.window && rules.good({mechanismPath(part, "window")})) // S81
      rules.atKey(mechanismPath(part, "window"), "either window or state", "both", "remove one of the two");
  bool isOther = other != spec.parts.end();
  if (isOther || !spec.causal) // S80
    return rules.atKey("state", "a causal kernel or polysketch mechanism with state",
                       isOther ? other->mechanism.name().str() : "causal: false",
                       isOther ? "remove `state`; softmax goes on from its keys and values: `keys` for those of all tokens so far"
                               : "add `causal: true`, or remove `state`");
}

void checkRules(RuleReporter &rules) {
  checkKvHeads(rules);
  checkQkHeads(rules);
  checkRope(rules);
  checkPartHeads(rules);
  checkSequences(rules);
  for (const Part &part : rules.spec.parts) {
    PartRules ofPart(rules, part);
    checkPackedPart(ofPart);
    part.mechanism.kind->check(ofPart);
    for (const MechanismField *field : mechanismFields())
      field->check(ofPart);
  }
  checkScale(rules);
  checkLse(rules);
  checkState(rules);
}

} // namespace attune
