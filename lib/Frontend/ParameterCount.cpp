//===- ParameterCount.cpp - A bound on the parameters of a spec ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRules.h"

#include "attune/Frontend/SpecParser.h"

namespace attune {

/// At least as many as the part has. A sketch of degree p/2 has p/2 leaves and p/2 - 1 nodes, of two and four tensors.
static int64_t countParameters(const Part &part) {
  constexpr int64_t ofOtherKinds = 8;
  return part.mechanism.kind == MechanismKind::Polysketch ? 3 * part.mechanism.degree + ofOtherKinds : ofOtherKinds;
}

/// S25: lists of parameters stay short.
void checkParameterCount(RuleReporter &rules) {
  int64_t count = 0;
  for (const Part &part : rules.spec.parts) {
    count += countParameters(part);
    if (count <= mostParameters)
      continue;
    llvm::StringRef field = part.mechanism.kind == MechanismKind::Polysketch ? "degree" : "kind";
    rules.atValue(mechanismPath(part, field), "at most " + std::to_string(mostParameters) + " parameters",
                  "about " + std::to_string(count) + " (not supported)", "lower the degree, or merge parts");
    return;
  }
}

} // namespace attune
