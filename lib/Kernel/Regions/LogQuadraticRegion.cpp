//===- LogQuadraticRegion.cpp - Exponents of features, all pair weights ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     for each key tile that all rows see:
//       R_f = max_j L(k)_jf;   t = L(q) + R;   M' = max(M, max_f t)
//       w = g(q) 2^(t − M') · (g(k) 2^(L(k) − R))ᵀ;   num, den rescaled by 2^(M − M'), plus w v, w 1
//     causal: the tile at the diagonal (LogPairs.h);   o = num / guard(den)
//
// Causal kernel attention has n = N, and key tiles are as long as the query tile: one of them is at the diagonal.
//
//===----------------------------------------------------------------------===//
#include "FeatureMaps.h"
#include "FeatureSources.h"
#include "Regions.h"
#include "Terms.h"
#include "attune/Attn/Exponents.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::logQuadraticRegion(const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  RegionPlanner plan(problem);
  FeatureSources features(plan, map, Axis::Head, problem.heads());
  int64_t width = problem.valueWidth();
  Source q = features.queryExponents(), k = features.keyExponents(), v = plan.tokens(problem.value, Axis::Key);
  Source unit = term(terms::featureUnit(), {k}), t = term(terms::inFeatureUnit(), {q, unit});
  Border seenEnd = problem.causal ? Border::Rows : Border::End;
  Stage stage{Axis::Key, problem.queryTile(), {{"seen", Border::Begin, seenEnd, /*masked=*/true}}, plan.extents};
  if (problem.causal) {
    auto diagonal = std::make_shared<StepForm>(
        StepForm{terms::logDiagonal(width, guard, attn::bandCount(map.map, map.width)), {q, k, unit, v}});
    stage.segments.push_back({"diagonal", Border::Rows, Border::RowsEnd, /*masked=*/true, diagonal});
  }
  Source sums = stream(stage, {terms::logPartial(width, guard), {t, k, unit, v}});
  return plan.region("quadratic", plan.finished(term(terms::normalizeInUnit(guard), {sums})));
}
