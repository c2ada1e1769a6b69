//===- CanonicalLaws.cpp - Laws that no price decides ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equal ops of equal operands are one (identity I23): a projection that two mechanisms read is computed once, and what
// prepare makes of its weights as well. Sums stay in their order.
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/CanonicalLaws.h"
#include "attune/Attn/Attn.h"
#include "attune/Graph/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace attune::graph {
#define GEN_PASS_DEF_CANONICALLAWS
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

using namespace mlir;
using namespace attune;

static int64_t countOps(func::FuncOp function) {
  return function.isDeclaration() ? 0 : static_cast<int64_t>(function.getBody().front().getOperations().size());
}

graph::Canonicalized graph::applyCanonicalLaws(func::FuncOp function) {
  Canonicalized counts;
  cancelFactors(function, counts);
  int64_t before = countOps(function);
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  counts.shared = before - countOps(function);
  return counts;
}

namespace {
struct CanonicalLaws : public graph::impl::CanonicalLawsBase<CanonicalLaws> {
  void runOnOperation() override {
    graph::Canonicalized counts = graph::applyCanonicalLaws(getOperation());
    numCancelled += counts.cancelled, numKept += counts.kept, numShared += counts.shared;
  }
};
} // namespace
