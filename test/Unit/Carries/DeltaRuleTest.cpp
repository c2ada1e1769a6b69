//===- DeltaRuleTest.cpp - The gated delta rule cut anywhere --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In exact arithmetic chunks are the recurrence, and any cut is one pass. In f32 both stay within what users are
// promised of it (docs/Rationale/AffineCarries.md has the figures). Carries that are not the loop's are found.
//
//===----------------------------------------------------------------------===//
#include "DeltaRule.h"

#include "attune/Reference/Tolerance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Precision;

/// The last chunk has 5 tokens of 8.
static const DeltaSizes sizes{/*tokens=*/93, /*chunk=*/8, /*features=*/5, /*values=*/3, /*heads=*/2};
static constexpr double exact = 1e-12;
/// What users are promised of f32.
static const double promised = reference::tolerance(ElementType::F32, 0, 0);

/// Unit keys, and gates that let the first tokens reach the last ones; in the second head, one token in forty forgets all.
static DeltaTensors anyTensors(uint64_t seed) {
  auto share = [](std::mt19937_64 &random) { return std::uniform_real_distribution<double>(0, 1)(random); };
  auto beta = [=](std::mt19937_64 &random, int64_t) { return .3 * share(random); };
  auto g = [=](std::mt19937_64 &random, int64_t head) {
    double decay = -.02 * share(random);
    return head == 1 && share(random) < .025 ? -50 : decay;
  };
  return drawDelta(sizes, {1, beta, g}, seed);
}

static double errorOf(const DeltaResults &got, const DeltaResults &expected, bool rows) {
  double state = reference::relativeError(got.state.elements(), expected.state.elements());
  return rows ? std::max(state, reference::relativeError(got.rows.elements(), expected.rows.elements())) : state;
}

namespace {
class DeltaRule : public ::testing::TestWithParam<Direction> {
protected:
  DeltaRule() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect>();
    context.disableMultithreading();
  }

  OwningOpRef<ModuleOp> kernel(tile::CarryAttrInterface carry, bool stores) {
    OwningOpRef<ModuleOp> module = deltaKernel(context, sizes, GetParam(), carry, stores);
    EXPECT_TRUE(succeeded(verify(*module)));
    return module;
  }
  tile::CarryAttrInterface affine(tile::Transition transition) { return tile::AffineAttr::get(&context, transition); }
  tile::CarryAttrInterface matrix() { return affine(tile::Transition::Matrix); }

  /// The error of the kernel with its loops cut at borders that the seeds draw.
  double errorOfCut(ModuleOp module, ArrayRef<uint64_t> seeds, Precision precision, bool stores) {
    OwningOpRef<ModuleOp> pieces = module.clone();
    EXPECT_TRUE(succeeded(cutLoops(*pieces, seeds)));
    EXPECT_TRUE(succeeded(verify(*pieces)));
    DeltaTensors tensors = anyTensors(7);
    FailureOr<DeltaResults> got = runDelta(*pieces, sizes, tensors, precision);
    return succeeded(got) ? errorOf(*got, recurrence(sizes, tensors, GetParam()), stores) : INFINITY;
  }
  /// The largest error of several cuts.
  double errorOfCuts(tile::CarryAttrInterface carry, bool stores) {
    double error = 0;
    OwningOpRef<ModuleOp> module = kernel(carry, stores);
    for (uint64_t seed = 0; seed < 4; ++seed)
      error = std::max(error, errorOfCut(*module, seed, Precision::Ideal, stores));
    return error;
  }

  MLIRContext context;
};
} // namespace

TEST_P(DeltaRule, ChunksAreTheRecurrence) {
  OwningOpRef<ModuleOp> module = kernel(matrix(), /*stores=*/true);
  EXPECT_LE(errorOfCut(*module, {}, Precision::Ideal, true), exact);
  EXPECT_LE(errorOfCut(*module, {}, Precision::Faithful, true), promised);
}

TEST_P(DeltaRule, AnyCutIsOnePass) {
  for (bool stores : {false, true}) {
    OwningOpRef<ModuleOp> module = kernel(matrix(), stores);
    for (uint64_t seed = 0; seed < 16; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (stores ? ", a scan" : ", composed"));
      EXPECT_LE(errorOfCut(*module, {seed}, Precision::Ideal, stores), exact);
      EXPECT_LE(errorOfCut(*module, {seed, seed + 100}, Precision::Ideal, stores), exact);
      EXPECT_LE(errorOfCut(*module, {seed, seed + 100}, Precision::Faithful, stores), promised);
    }
  }
}

static double dot(const reference::Array &a, const reference::Array &b) {
  double sum = 0;
  for (int64_t i = 0; i < a.bufferCount(); ++i)
    sum += a.element(i) * b.element(i);
  return sum;
}

/// (v, S₀) ↦ (o, S_N) is linear, and (r, Λ_N) ↦ (v̄, Λ₀) is its transpose.
TEST(DeltaRuleGradient, ReverseIsTheTranspose) {
  DeltaTensors forward = anyTensors(7), reverse = forward, other = anyTensors(8);
  reverse.rows = other.rows, reverse.initial = other.initial;
  DeltaResults results = recurrence(sizes, forward, Direction::Forward);
  DeltaResults gradients = recurrence(sizes, reverse, Direction::Reverse);
  double product = dot(reverse.rows, results.rows) + dot(reverse.initial, results.state);
  EXPECT_NEAR(product, dot(gradients.rows, forward.rows) + dot(gradients.state, forward.initial), 1e-10);
}

//===----------------------------------------------------------------------===//
// What is not so is found
//===----------------------------------------------------------------------===//

TEST_P(DeltaRule, WrongCarriesAreFound) {
  for (bool stores : {false, true}) {
    EXPECT_LE(errorOfCuts(matrix(), stores), exact);
    EXPECT_GT(errorOfCuts(affine(tile::Transition::Vector), stores), 1e-3);
    EXPECT_GT(errorOfCuts(tile::SumAttr::get(&context), stores), 1e-3);
    EXPECT_GT(errorOfCuts(tile::MaximumAttr::get(&context), stores), 1e-3);
  }
}

/// The loop as the spans of two pieces, composed in their order or in the wrong one.
static void cutByHand(ModuleOp module, int64_t border, bool wrongly) {
  tile::LoopOp loop;
  module.walk([&](tile::LoopOp op) { loop = op; });
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value middle = arith::ConstantIndexOp::create(builder, loc, border);
  SmallVector<Value> low = *loop.getCarry().buildSpan(builder, loop, loop.getLower(), middle);
  SmallVector<Value> high = *loop.getCarry().buildSpan(builder, loop, middle, loop.getUpper());
  bool lowFirst = loop.getReverse() == wrongly;
  SmallVector<Value> span = loop.getCarry().buildCompose(builder, loc, lowFirst ? low : high, lowFirst ? high : low);
  loop->replaceAllUsesWith(loop.getCarry().buildApply(builder, loc, span, loop.getInitArgs()));
  loop->erase();
}

TEST_P(DeltaRule, TheOtherOrderIsFound) {
  for (bool wrongly : {false, true}) {
    OwningOpRef<ModuleOp> module = kernel(matrix(), /*stores=*/false);
    cutByHand(*module, 5 * sizes.chunk, wrongly);
    double error = errorOfCut(*module, {}, Precision::Ideal, false);
    EXPECT_TRUE(wrongly ? error > 1e-3 : error <= exact) << error;
  }
}

/// The identity span on either side, and as a whole, changes nothing.
TEST_P(DeltaRule, NothingIsNeutral) {
  for (int64_t border : {int64_t(0), sizes.tokens}) {
    OwningOpRef<ModuleOp> module = kernel(matrix(), /*stores=*/false);
    cutByHand(*module, border, /*wrongly=*/false);
    EXPECT_LE(errorOfCut(*module, {}, Precision::Ideal, false), exact);
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, DeltaRule, testing::Values(Direction::Forward, Direction::Reverse),
                         [](const auto &info) { return info.param == Direction::Forward ? "Forward" : "Reverse"; });
