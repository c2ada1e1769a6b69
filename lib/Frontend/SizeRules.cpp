//===- SizeRules.cpp - Conditions on batch, queries and keys -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MechanismKind.h"

namespace attune {

void PartSizes::checkCausal() {
  if (good({"kind"}) && causal() && differ())
    rules.atValue(path("kind"), "queries = keys with causal " + m.name().str(), both(),
                  "make `keys` equal to `queries`, or remove `causal`");
}

void PartSizes::checkEqual(llvm::StringRef field) {
  if (differ())
    rules.atKey(path(field), "queries = keys with " + field.str(), both(), "make `keys` equal to `queries`");
}

void PartSizes::checkDivisor(llvm::StringRef field, int64_t value) {
  if (queries && !rules.spec.packed && !rules.spec.ragged && good({field}) && *queries % value != 0)
    rules.atValue(path(field), "a divisor of queries = " + std::to_string(*queries), shown(value),
                  "the sequence must be cut into equal blocks");
}

void PartSizes::checkGrid(llvm::StringRef field, const std::optional<Grid> &grid) {
  if (!grid || !queries || !good({field}) || (*grid)[0] * (*grid)[1] == *queries)
    return;
  rules.atValue(path(field), "a grid of " + std::to_string(*queries) + " tokens",
                std::to_string((*grid)[0]) + " x " + std::to_string((*grid)[1]),
                "rows times columns must be `queries`");
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
  for (const Part &part : rules.spec.parts) {
    PartSizes sizes(rules, part);
    part.mechanism.kind->checkSizes(sizes);
    for (const MechanismField *field : mechanismFields())
      field->checkSizes(sizes);
  }
}

} // namespace attune
