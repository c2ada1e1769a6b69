//===- InlineLoops.cpp - Loops of one step, and of none ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Orders.h"

#include "attune/Lowering/CPU/Passes.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace attune::cpu {
#define GEN_PASS_DEF_INLINELOOPS
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-inline-loops"

/// How often the loop runs, if that is known to be at most once.
static std::optional<int64_t> fewSteps(tile::LoopOp loop) {
  APInt lower, upper;
  if (!matchPattern(loop.getLower(), m_ConstantInt(&lower)) || !matchPattern(loop.getUpper(), m_ConstantInt(&upper)))
    return std::nullopt;
  int64_t length = upper.getSExtValue() - lower.getSExtValue();
  if (length > static_cast<int64_t>(loop.getStep()))
    return std::nullopt;
  return length > 0;
}

/// What an op on the empty state of a softmax leaves: a maximum the other operand, a sum of zero likewise, and a product
/// with zero is zero, since its factor exp2(−∞ − m) is 0 or else the row has a NaN in its weights.
static Value withEmptyState(Operation *op, tile::LoopOp loop) {
  for (auto [carried, init] : llvm::zip_equal(loop.getCarried(), loop.getInitArgs())) {
    std::optional<double> start = splatValue(init);
    if (!start || op->getNumOperands() != 2 || !llvm::is_contained(op->getOperands(), carried))
      continue;
    Value other = op->getOperand(op->getOperand(0) == carried);
    if (isa<arith::MaximumFOp>(op) ? *start == -INFINITY : isa<arith::AddFOp>(op) && *start == 0)
      return other;
    if (isa<arith::MulFOp>(op) && *start == 0)
      return carried;
  }
  return {};
}

/// Replaces ops on the empty state, and removes what is not used any more.
static void simplify(tile::LoopOp loop) {
  Block &body = loop.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (Value result = withEmptyState(&op, loop)) {
      op.getResult(0).replaceAllUsesWith(result);
      op.erase();
    }
  SmallVector<Operation *> left;
  for (Operation &op : body.without_terminator())
    left.push_back(&op);
  for (Operation *op : llvm::reverse(left))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Puts the loop's only step, or nothing, in its place.
static void inlineLoop(tile::LoopOp loop, int64_t steps) {
  Block &body = loop.getBody().front();
  SmallVector<Value> results(loop.getInitArgs());
  if (steps == 1) {
    if (auto sums = dyn_cast<tile::RescaledSumAttr>(loop.getCarry()); sums && sums.getPower() == tile::RescaledSumAttr::exp2)
      simplify(loop);
    loop.getInductionVar().replaceAllUsesWith(loop.getLower());
    for (auto [carried, init] : llvm::zip_equal(loop.getCarried(), loop.getInitArgs()))
      carried.replaceAllUsesWith(init);
    results.assign(loop.getYield()->operand_begin(), loop.getYield()->operand_end());
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      op.moveBefore(loop);
  }
  loop->replaceAllUsesWith(results);
  loop.erase();
}

namespace {
struct InlineLoops : public cpu::impl::InlineLoopsBase<InlineLoops> {
  using InlineLoopsBase::InlineLoopsBase;

  void runOnOperation() override {
    SmallVector<tile::LoopOp> loops;
    getOperation().walk([&](tile::LoopOp loop) { loops.push_back(loop); });
    for (tile::LoopOp loop : loops)
      if (std::optional<int64_t> steps = fewSteps(loop)) {
        ATTUNE_DEBUG() << "@" << getOperation().getSymName() << ": a loop of " << *steps << " steps goes";
        inlineLoop(loop, *steps);
        ++numInlined;
      }
  }
};
} // namespace
