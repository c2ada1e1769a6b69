//===- AttnToLinalg.cpp - attn as plain linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mechanisms are decomposed into their terms, and every term is written as `linalg.generic` ops (lib/Raise/Lower).
//
//===----------------------------------------------------------------------===//
#include "Lower/Lower.h"
#include "attune/Attn/Exponents.h"
#include "attune/Raise/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace attune::raise {
#define GEN_PASS_DEF_ATTNTOLINALG
#include "attune/Raise/Passes.h.inc"
} // namespace attune::raise

using namespace mlir;
using namespace attune;
using namespace attune::raise;

template <typename... Ops> static Results lowerOneOf(OpBuilder &builder, Operation *op) {
  auto lowerOne = [&](auto one) {
    if constexpr (requires { lower(builder, one); })
      return lower(builder, one);
    return Results(); // of a mechanism, which is decomposed before
  };
  return llvm::TypeSwitch<Operation *, Results>(op).Case<Ops...>(lowerOne).Default(Results());
}

static Results lowerTerm(OpBuilder &builder, Operation *op) {
  return lowerOneOf<
#define GET_OP_LIST
#include "attune/Attn/AttnOps.cpp.inc"
      >(builder, op);
}

static SmallVector<Operation *> attnOps(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa_and_nonnull<attn::AttnDialect>(op->getDialect()))
      ops.push_back(op);
  });
  return ops;
}

namespace {
struct AttnToLinalg : public raise::impl::AttnToLinalgBase<AttnToLinalg> {
  void runOnOperation() override {
    SmallVector<Operation *> ops = attnOps(getOperation());
    numLowered += ops.size();
    for (Operation *op : ops)
      if (auto mechanism = dyn_cast<attn::MechanismOpInterface>(op)) {
        OpBuilder builder(op);
        SmallVector<Value> terms = mechanism.decompose(builder);
        if (terms.size() != op->getNumResults())
          continue; // no term is written for it either
        op->replaceAllUsesWith(terms);
        op->erase();
      }
    if (failed(lowerTerms()))
      return signalPassFailure();
    // What selection said to our own kernels says nothing to others, who need not know the dialects.
    getOperation()->removeAttr("attn.plan");
    getOperation()->removeAttr("tile.schedule");
  }

  /// Whether features are in units, which only gradients are made of.
  static bool hasShiftOfFeatures(Operation *op) {
    if (auto map = dyn_cast<attn::MapOp>(op))
      return attn::isOfFeatures(map.getShift());
    return isa<attn::KeyMaximumOp>(op) && attn::isOfFeatures(op->getResult(0));
  }

  /// All terms before any is replaced: some look at what makes their operands and at what reads their results.
  LogicalResult lowerTerms() {
    SmallVector<std::pair<Operation *, Results>> lowered;
    for (Operation *op : attnOps(getOperation())) {
      OpBuilder builder(op);
      Results results = hasShiftOfFeatures(op) ? Results() : lowerTerm(builder, op);
      if (results.size() != op->getNumResults())
        return op->emitError() << "expected an op of attn that attn-to-linalg writes as linalg, but got '"
                               << op->getName() << "'";
      for (auto [result, old] : llvm::zip_equal(results, op->getResults()))
        if (result && result.getType() != old.getType())
          result = tensor::CastOp::create(builder, op->getLoc(), old.getType(), result);
      lowered.emplace_back(op, results);
    }
    for (auto &[op, results] : lowered)
      for (auto [result, old] : llvm::zip_equal(results, op->getResults()))
        if (result)
          old.replaceAllUsesWith(result);
    for (auto &[op, results] : llvm::reverse(lowered))
      op->erase();
    return success();
  }
};
} // namespace
