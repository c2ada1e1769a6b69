//===- Supported.cpp - What a correct spec asks for in vain --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

namespace attune {

static constexpr const char *remedy =
    "this version compiles softmax, and kernel with feature_map elu1, over q, k and v";

static void refuse(RuleReporter &rules, Position at, std::string expected, llvm::StringRef got) {
  rules.state.error(at, std::move(expected), quoted(got) + " (not supported yet)", remedy);
}

static void refuseField(RuleReporter &rules, bool present, const std::string &path, llvm::StringRef name) {
  if (present)
    refuse(rules, rules.spec.placeOf(path).key, "only supported fields", name);
}

static void checkMechanism(RuleReporter &rules, const Part &part) {
  const Mechanism &m = part.mechanism;
  if (m.kind != MechanismKind::Softmax && m.kind != MechanismKind::Kernel)
    refuse(rules, rules.spec.placeOf(mechanismPath(part, "kind")).value, "a supported mechanism (softmax, kernel)",
           nameOf(m.kind));
  if (m.kind == MechanismKind::Kernel && m.featureMap.kind != FeatureMapKind::Elu1)
    refuse(rules, rules.spec.placeOf(mechanismPath(part, "feature_map.kind")).value, "a supported feature map (elu1)",
           nameOf(m.featureMap.kind));
  refuseField(rules, m.window.has_value(), mechanismPath(part, "window"), "window");
  refuseField(rules, m.lowRank.has_value(), mechanismPath(part, "low_rank"), "low_rank");
  refuseField(rules, m.lepe.has_value(), mechanismPath(part, "lepe"), "lepe");
}

void checkSupported(RuleReporter &rules) {
  Spec &spec = rules.spec;
  refuseField(rules, spec.projection.has_value(), "projection", "projection");
  refuseField(rules, spec.rope.has_value(), "rope", "rope");
  refuseField(rules, spec.qkNorm.has_value(), "qk_norm", "qk_norm");
  refuseField(rules, spec.hasParts, "parts", "parts");
  for (const Part &part : spec.parts)
    checkMechanism(rules, part);
}

} // namespace attune
