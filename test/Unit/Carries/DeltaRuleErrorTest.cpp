//===- DeltaRuleErrorTest.cpp - How far f32 is from the delta rule --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hard cases in f32: in one pass, and cut into pieces whose spans are composed. One pass is within what users are promised;
// cutting keeps the promise or, where one pass does not keep it, is at most twice as far from f64.
//
// With ATTUNE_SHOW_ERRORS=<seeds> the sequences have 4,096 tokens in chunks of 64, and the table of
// docs/Rationale/AffineCarries.md is printed. In chunks of 64, gates near 2 are beyond the promise in one pass.
//
//===----------------------------------------------------------------------===//
#include "DeltaRule.h"

#include "attune/Reference/Tolerance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Format.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;
using reference::Array;
using reference::Precision;

using Draw = std::function<double(std::mt19937_64 &, int64_t)>;

static Draw always(double value) {
  return [=](std::mt19937_64 &, int64_t) { return value; };
}
static Draw between(double low, double high) {
  return [=](std::mt19937_64 &random, int64_t) { return std::uniform_real_distribution<double>(low, high)(random); };
}
/// A head of none, one of −50, and those between.
static double spread(std::mt19937_64 &, int64_t head) { return -50.0 * double(head) / 3; }
/// One token in four is −50, the others are none.
static double rare(std::mt19937_64 &random, int64_t) { return random() % 4 ? 0 : -50; }

namespace {
struct HardCase {
  const char *name;
  DeltaDraw draw;
};
struct Errors {
  double pass = 0, cut = 0, between = 0; ///< one pass to f64, pieces to f64, pieces to one pass

  void raise(const Errors &other) {
    pass = std::max(pass, other.pass), cut = std::max(cut, other.cut), between = std::max(between, other.between);
  }
};
} // namespace

static std::vector<HardCase> hardCases() {
  return {{"any keys, beta in (0, 1), g in (-.1, 0)", {1, between(0, 1), between(-.1, 0)}},
          {"parallel keys, beta near 1, no decay", {.01, between(.99, 1), always(0)}},
          {"parallel keys, beta near 1, decays 0 to -50 by head", {.01, between(.99, 1), spread}},
          {"parallel keys, beta near 1, -50 for all tokens", {.01, between(.99, 1), always(-50)}},
          {"parallel keys, beta near 1, -50 for one token in four", {.01, between(.99, 1), rare}},
          {"parallel keys, beta near 2, no decay", {.01, between(1.98, 2), always(0)}},
          {"any keys, beta near 1, no decay", {1, between(.99, 1), always(0)}}};
}

/// The largest relative error of a head's rows and state.
static double distance(const DeltaResults &got, const DeltaResults &expected) {
  auto ofHead = [](const Array &array, int64_t head) {
    std::vector<double> all = array.elements();
    size_t each = all.size() / array.size(0);
    return std::vector<double>(all.begin() + head * each, all.begin() + (head + 1) * each);
  };
  double error = 0;
  for (int64_t head = 0; head < got.rows.size(0); ++head)
    for (auto member : {&DeltaResults::rows, &DeltaResults::state})
      error = std::max(error, reference::relativeError(ofHead(got.*member, head), ofHead(expected.*member, head)));
  return error;
}

namespace {
class DeltaRuleErrors : public ::testing::Test {
protected:
  DeltaRuleErrors() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect>();
    context.disableMultithreading();
  }

  /// Of one draw: the rows by a scan of pieces, the state by composed spans.
  Errors measure(const DeltaSizes &sizes, const DeltaDraw &draw, Direction direction, uint64_t seed) {
    DeltaTensors tensors = drawDelta(sizes, draw, seed);
    DeltaResults truth = recurrence(sizes, tensors, direction);
    auto carry = tile::AffineAttr::get(&context, tile::Transition::Matrix);
    auto run = [&](bool stores, ArrayRef<uint64_t> seeds) {
      OwningOpRef<ModuleOp> module = deltaKernel(context, sizes, direction, carry, stores);
      EXPECT_TRUE(succeeded(cutLoops(*module, seeds)));
      FailureOr<DeltaResults> results = runDelta(*module, sizes, tensors, Precision::Faithful);
      EXPECT_TRUE(succeeded(results));
      return *results;
    };
    DeltaResults pass = run(true, {}), pieces = run(true, {seed, seed + 1});
    pieces.state = run(false, {seed, seed + 1}).state;
    return {distance(pass, truth), distance(pieces, truth), distance(pieces, pass)};
  }

  MLIRContext context;
};
} // namespace

TEST_F(DeltaRuleErrors, CuttingKeepsThePromise) {
  const char *shown = getenv("ATTUNE_SHOW_ERRORS");
  DeltaSizes small{/*tokens=*/256, /*chunk=*/16, /*features=*/8, /*values=*/4, /*heads=*/4}, large{4096, 64, 32, 16, 4};
  DeltaSizes sizes = shown ? large : small;
  double promised = reference::tolerance(ElementType::F32, 0, 0);
  for (Direction direction : {Direction::Forward, Direction::Reverse})
    for (const HardCase &hard : hardCases()) {
      Errors worst;
      for (uint64_t seed = 0; seed < (shown ? strtoul(shown, nullptr, 10) : 2); ++seed)
        worst.raise(measure(sizes, hard.draw, direction, seed));
      if (!shown)
        EXPECT_LE(worst.pass, promised) << hard.name;
      EXPECT_LE(worst.cut, std::max(promised, 2 * worst.pass)) << hard.name;
      if (shown)
        llvm::errs() << (direction == Direction::Forward ? "| " : "| reverse: ") << hard.name
                     << llvm::format(" | %.1e | %.1e | %.1e |\n", worst.pass, worst.cut, worst.between);
    }
}
