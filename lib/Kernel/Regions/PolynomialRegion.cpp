//===- PolynomialRegion.cpp - Polynomial attention with all pair weights ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)
//     for each key tile:  t = (scale q) kᵀ, 0 where the query does not see the key;  carry Σ_j t^p [v 1]
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::polynomialRegion(const Problem &problem, int64_t degree, double scale, attn::DenominatorAttr guard) {
  RegionPlanner plan(problem);
  Source q = plan.tokens(problem.query, Axis::Query), k = plan.tokens(problem.key, Axis::Key);
  if (scale != 1)
    q = term(terms::scale(scale), {q});
  Source t = term(terms::visible(), {term(terms::logits(Representation::Plain, 1, /*wide=*/true), {q, k})});
  StepForm step{terms::powerPartial(degree, problem.valueWidth(), guard), {t, plan.tokens(problem.value, Axis::Key)}};
  Source state = stream(plan.keys(), step);
  return plan.region("polynomial", plan.finished(term(terms::powerFinish(degree, guard), {state})));
}
