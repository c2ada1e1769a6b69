//===- FoldAccumulators.cpp - Sums of a dot and a tile as its accumulator ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DotForms.h"
#include "RunningSums.h"

#include "attune/Lowering/CPU/Passes.h"
#include "attune/Support/DebugOutput.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attune::cpu {
#define GEN_PASS_DEF_FOLDACCUMULATORS
#include "attune/Lowering/CPU/Passes.h.inc"
} // namespace attune::cpu

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

#define DEBUG_TYPE "cpu-fold-accumulators"

/// The dot that can take over a sum: used once, its accumulator zero, in the same block. Running sums begin with zero.
static tile::DotOp foldable(arith::AddFOp sum, Value operand) {
  auto dot = operand.getDefiningOp<tile::DotOp>();
  bool zero = dot && splatValue(dot.getAcc()) == 0.0;
  return zero && operand.hasOneUse() && dot->getBlock() == sum->getBlock() && !runningSums(dot) ? dot : tile::DotOp();
}

static bool fold(arith::AddFOp sum) {
  if (!isTile(sum.getResult()))
    return false;
  tile::DotOp left = foldable(sum, sum.getLhs()), right = foldable(sum, sum.getRhs());
  // Of two dots the later one takes the sum, so that the other is there before.
  bool takeRight = right && (!left || left->isBeforeInBlock(right));
  tile::DotOp dot = takeRight ? right : left;
  if (!dot) {
    ATTUNE_DEBUG() << "kept: " << sum << " adds no dot from zero of this block that is used once";
    return false;
  }
  ATTUNE_DEBUG() << "folded: " << sum;
  dot.getAccMutable().assign(takeRight ? sum.getLhs() : sum.getRhs());
  dot->moveBefore(sum);
  sum.getResult().replaceAllUsesWith(dot.getResult());
  sum.erase();
  return true;
}

/// Moves a dot whose only use scales its rows, for a store, to that use: the scale may be computed between them, and
/// what is added to the scaled rows.
static bool sink(tile::DotOp dot) {
  auto product = dyn_cast_or_null<arith::MulFOp>(onlyUser(dot));
  Operation *user = product ? onlyUser(product) : nullptr;
  auto sum = dyn_cast_or_null<arith::AddFOp>(user);
  if (!isa_and_nonnull<tile::StoreOp>(sum ? onlyUser(sum) : user))
    return false;
  bool moves = dot->getNextNode() != product || (sum && product->getNextNode() != sum);
  if (sum)
    product->moveBefore(sum);
  dot->moveBefore(product);
  return moves;
}

namespace {
struct FoldAccumulators : public cpu::impl::FoldAccumulatorsBase<FoldAccumulators> {
  using FoldAccumulatorsBase::FoldAccumulatorsBase;

  void runOnOperation() override {
    getOperation()->walk([&](arith::AddFOp sum) { numFolded += fold(sum); });
    getOperation()->walk([&](tile::DotOp dot) { numSunk += sink(dot); });
  }
};
} // namespace
