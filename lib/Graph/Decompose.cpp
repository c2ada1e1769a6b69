//===- Decompose.cpp - Every mechanism by its definition ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Passes.h"

namespace attune::graph {
#define GEN_PASS_DEF_DECOMPOSE
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

using namespace mlir;
using namespace attune;

namespace {
struct Decompose : public graph::impl::DecomposeBase<Decompose> {
  void runOnOperation() override {
    SmallVector<attn::MechanismOpInterface> mechanisms;
    getOperation().walk([&](attn::MechanismOpInterface op) { mechanisms.push_back(op); });
    for (attn::MechanismOpInterface op : mechanisms) {
      OpBuilder builder(op);
      SmallVector<Value> terms = op.decompose(builder);
      if (terms.size() != op->getNumResults()) {
        op->emitOpError() << "expected terms for " << op->getNumResults() << " results, but got " << terms.size();
        return signalPassFailure();
      }
      op->replaceAllUsesWith(terms);
      op->erase();
      ++numMechanisms;
    }
  }
};
} // namespace
