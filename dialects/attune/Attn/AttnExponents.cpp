//===- AttnExponents.cpp - Features beyond the range of f32 --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Attn/Exponents.h"

#include <algorithm>
#include <cmath>

using namespace attune;
using namespace attune::attn;

/// L = ⟨ω, x'⟩ − |x'|²/2 with |x'| = r = 6√d √s is between −r²/2 − 3r and |ω|²/2, which is about d/2 + 2√d for the
/// largest ω.
static double favorSpan(FeatureMapAttr map, double width) {
  double r = 6 * std::sqrt(map.getScale() * width);
  return (r * r / 2 + 3 * r + width / 2 + 2 * std::sqrt(width)) * M_LOG2E;
}

/// The largest entry of a row over the least, ε: in units of log 2, of a row of norm 30√d.
static double focusedRatio(FeatureMapAttr map, double width) {
  return std::max(std::log2(30 * std::sqrt(width)) - std::log2(map.getEpsilon()), 0.0);
}

double attn::exponentSpan(FeatureMapAttr map, int64_t width) {
  constexpr double focus = 4; // entries of softplus(focus) may differ by that, in units of log 2
  auto d = static_cast<double>(width);
  if (map.isFavor())
    return favorSpan(map, d);
  if (map.getKind() == FeatureKind::Focused) // y^p, and |y|
    return map.getPower() * (focusedRatio(map, d) + focus) + focusedRatio(map, d);
  return 0;
}

bool attn::carriesExponents(FeatureMapAttr map, int64_t width, DenominatorAttr guard) {
  constexpr double normalRange = 126;
  if (map.getKind() == FeatureKind::Focused)
    return !guard.getNone() && map.getPower() * focusedRatio(map, static_cast<double>(width)) > normalRange;
  return map.stabilizerCancels(guard);
}

bool attn::areAlike(MapOp a, MapOp b) {
  auto unstabilized = [](FeatureMapAttr map) { return map.isFavor() ? map.withStabilizer(Stabilizer::None) : map; };
  return a.getParameter() == b.getParameter() && unstabilized(a.getFeatureMap()) == unstabilized(b.getFeatureMap());
}

bool attn::haveLogarithms(FeatureMapAttr map) {
  return map.getKind() == FeatureKind::Focused || (map.isFavor() && map.getEpsilon() == 0);
}

int64_t attn::bandCount(FeatureMapAttr map, int64_t width) {
  // The last band is open below by what is left of the range.
  double bands = std::ceil((exponentSpan(map, width) - 30) / bandWidth);
  return static_cast<int64_t>(std::clamp(bands, 1.0, map.isFavor() ? 4.0 : 8.0));
}
