//===- QuadraticRegion.cpp - Kernel attention with all pair weights --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     a = φ(q);  for each key tile:  w = visible(a φ(k)ᵀ);  num += w v;  den += Σ_j w
//     o = num / guard(den)
//
// The cheapest form for short sequences: no state, no workspace.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// Are features made of products with a matrix?
static bool isProjected(const FeatureMap &map) {
  return map.map.isFavor() || map.map.getKind() == attn::FeatureKind::FavorRelu;
}

KernelRegion kernel::quadraticRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  RegionPlanner plan(problem);
  FeatureSources features(plan, map, Axis::Head, problem.heads());
  bool wide = needsWideProducts(problem);
  Source w = term(terms::visible(), {term(terms::logits(Representation::Plain, 1, wide), {features.queries(), features.keys()})});
  StepForm step{terms::weightedSums(problem.valueWidth(), wide), {w, plan.tokens(problem.value, Axis::Key)}};
  Source sums = stream(plan.keys(/*dearSteps=*/isProjected(map)), step);
  return plan.region("quadratic", plan.finished(term(terms::normalize(guard), {sums})));
}
