//===- SizeRules.cpp - Conditions on batch, queries and keys -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

namespace attune {

namespace {

/// The size rules of one part.
class SizeRules {
public:
  SizeRules(RuleReporter &rules, const Part &part)
      : rules(rules), spec(rules.spec), part(part), m(part.mechanism),
        queries(rules.good({"queries"}) ? spec.queries : std::nullopt),
        keys(rules.good({"keys"}) ? spec.keys : std::nullopt) {}
  void check();

private:
  std::string path(llvm::StringRef field) const { return mechanismPath(part, field); }
  bool good(std::initializer_list<llvm::StringRef> fields) const {
    return llvm::all_of(fields, [&](llvm::StringRef field) { return rules.good({path(field)}); });
  }
  bool is(MechanismKind kind) const { return m.kind == kind; }
  bool differ() const { return queries && keys && *queries != *keys; }
  std::string both() const { return std::to_string(*queries) + " and " + std::to_string(*keys); }
  void checkCausal();
  void checkWindow();
  void checkLepe();
  void checkDivisor(llvm::StringRef field, int64_t value);
  void checkGrid(llvm::StringRef field, const std::optional<Grid> &grid);
  void checkPositions();
  void checkEva();
  void checkEvaBlocks(llvm::StringRef field, llvm::StringRef place, int64_t block);

  RuleReporter &rules;
  const Spec &spec;
  const Part &part;
  const Mechanism &m;
  Size queries, keys;
};

} // namespace

/// S54: a causal state is read at its own position.
void SizeRules::checkCausal() {
  bool needsEqual = is(MechanismKind::Kernel) || is(MechanismKind::Polysketch) || is(MechanismKind::Eva);
  if (good({"kind"}) && rules.good({"causal"}) && spec.causal && needsEqual && differ())
    rules.atValue(path("kind"), "queries = keys with causal " + nameOf(m.kind).str(), both(),
                  "make `keys` equal to `queries`, or remove `causal`");
}

/// S41: blocks of `value` tokens cover the queries.
void SizeRules::checkDivisor(llvm::StringRef field, int64_t value) {
  if (queries && good({field}) && *queries % value != 0)
    rules.atValue(path(field), "a divisor of queries = " + std::to_string(*queries), shown(value),
                  "the sequence must be cut into equal blocks");
}

/// S42: an image holds all tokens.
void SizeRules::checkGrid(llvm::StringRef field, const std::optional<Grid> &grid) {
  if (!grid || !queries || !good({field}) || (*grid)[0] * (*grid)[1] == *queries)
    return;
  rules.atValue(path(field), "a grid of " + std::to_string(*queries) + " tokens",
                std::to_string((*grid)[0]) + " x " + std::to_string((*grid)[1]),
                "rows times columns must be `queries`");
}

/// S40, S41 and S42. The window of eva is checked with its chunks.
void SizeRules::checkWindow() {
  if (!m.window || m.window->last || !good({"kind", "window"}) || is(MechanismKind::Eva))
    return;
  if (differ())
    rules.atKey(path("window"), "queries = keys with window", both(), "make `keys` equal to `queries`");
  if (m.window->length)
    checkDivisor("window.length", *m.window->length);
  checkGrid("window.grid", m.window->grid);
}

/// S42, S49.
void SizeRules::checkLepe() {
  if (!m.lepe || !good({"lepe"}))
    return;
  if (differ())
    rules.atKey(path("lepe"), "queries = keys with lepe", both(), "make `keys` equal to `queries`");
  if (good({"kind", "window"}) && (!m.window || is(MechanismKind::Eva)))
    checkGrid("lepe.grid", m.lepe->grid);
}

/// S39: every position of cosFormer has an angle.
void SizeRules::checkPositions() {
  if (!good({"kind", "feature_map", "feature_map.kind", "feature_map.max_position"}) ||
      !m.isKernel(FeatureMapKind::Cosformer))
    return;
  std::pair<Size, const char *> sizes[] = {{queries, "queries"}, {keys, "keys"}};
  for (auto [size, name] : sizes)
    if (size && *size > m.featureMap.maxPosition)
      rules.atValue(path("feature_map.max_position"), "at least " + std::string(name) + " = " + std::to_string(*size),
                    shown(m.featureMap.maxPosition), "positions beyond it have no angle");
}

/// S36, S37: block i of the queries goes with block i of the keys (of the slots, with low_rank).
void SizeRules::checkEvaBlocks(llvm::StringRef field, llvm::StringRef place, int64_t block) {
  Size slots = m.lowRank ? (good({"low_rank.rank"}) ? Size(m.lowRank->rank) : std::nullopt) : keys;
  std::string what = m.lowRank ? "low_rank.rank" : "keys";
  if (!slots || !good({place, "low_rank"}))
    return;
  if (*slots % block != 0)
    return rules.atValue(path(place), "a divisor of " + what + " = " + std::to_string(*slots), shown(block),
                         "the keys must be cut into equal blocks");
  // Without keys there are no blocks, and every output is 0.
  if (queries && *slots > 0 && *queries % (*slots / block) != 0)
    rules.atValue(path(place),
                  "a number of blocks (" + what + " / " + field.str() +
                      ") that divides queries = " + std::to_string(*queries),
                  std::to_string(*slots / block) + " blocks", "block i of the queries goes with block i of the keys");
}

void SizeRules::checkEva() {
  if (!is(MechanismKind::Eva) || !good({"kind"}))
    return;
  checkEvaBlocks("chunk", "chunk", m.chunk);
  if (m.window && m.window->length)
    checkEvaBlocks("length", "window.length", *m.window->length);
}

void SizeRules::check() {
  checkCausal();
  checkWindow();
  checkLepe();
  if (is(MechanismKind::Polysketch) && m.localExact)
    checkDivisor("local_exact", *m.localExact);
  if (is(MechanismKind::Agent) && good({"kind"}))
    checkDivisor("agents", m.agents);
  checkPositions();
  checkEva();
}

/// S17: self-attention has one input.
static void checkProjectedKeys(RuleReporter &rules) {
  Spec &spec = rules.spec;
  if (!spec.projection || !rules.good({"projection", "projection.cross", "queries", "keys"}))
    return;
  if (spec.projection->cross || !spec.queries || !spec.keys || *spec.queries == *spec.keys)
    return;
  rules.atValue("keys", "keys = queries = " + std::to_string(*spec.queries) + " (self-attention projection)",
                std::to_string(*spec.keys), "remove `keys`, or write `cross: true` for a second input");
  rules.state.markBad("keys");
}

void checkSizeRules(RuleReporter &rules) {
  checkProjectedKeys(rules);
  for (const Part &part : rules.spec.parts)
    SizeRules(rules, part).check();
}

} // namespace attune
