//===- ExplainTest.cpp - The account of a selection -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Explain.h"
#include "GraphFixture.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;
using ::testing::HasSubstr;

namespace {
class ExplainTest : public GraphTest {
protected:
  Selection select(const KernelCase &c, std::vector<Pin> pins = {}) {
    OwningOpRef<ModuleOp> module = parse(c);
    SelectOptions asked = options(std::move(pins));
    asked.curves = true;
    FailureOr<Selection> selection = selectRewrites(*module, asked);
    EXPECT_TRUE(succeeded(selection));
    return *selection;
  }
  std::string text(const Selection &selection) {
    std::string result;
    llvm::raw_string_ostream out(result);
    explain(selection, out);
    return result;
  }
};
} // namespace

// n = 4096, d = m = dv = 128: quadratic 4096² · 256 = 4.29 G products, state 2 · 4096 · 128² = 134 M; exponentials of
// the maps: quadratic 128 · (4096 + 64 · 4096) = 34.1 M, state 2 · 4096 · 128 = 1.05 M. Exact softmax has as many
// products as quadratic; with the same number of launches it is cheaper, if at all, where quadratic is.
static const KernelCase longCase{.queries = 4096, .keys = 4096, .width = 128, .valueWidth = 128};

TEST_F(ExplainTest, TextHasOperationsTimesAndCrossings) {
  std::string table = text(select(longCase));
  EXPECT_THAT(table,
              HasSubstr("@attention on products: 134217728 s predicted at L = 4096, batch 1, by linearize: state\n"
                        "  32.0 times as fast as exact softmax, another function of these sizes (4294967296 s), which "
                        "is faster below L = 129\n"
                        "  1.00 times as fast as the next plan, linearize: fused_state (134217728 s); linearize: "
                        "quadratic is cheaper below L = 129\n")); // one kernel computes the same
  // q, k, v, o of 4 · 4096 · 128 bytes; the state of 4 · 128 · 129 is written twice, read twice, written and read
  // merged.
  EXPECT_THAT(table, HasSubstr("134M multiply-adds, 1.05M exponentials, 8.78M bytes, 3 kernels"));
  EXPECT_THAT(table, ::testing::ContainsRegex(
                         "linearize: quadratic +no +4\\.29G +34\\.1M .*32\\.0 times the price; cheaper below L = 129"));
  EXPECT_THAT(table, ::testing::ContainsRegex("linearize: state +taken +134M +1\\.05M .*the cheapest"));
  EXPECT_THAT(table, ::testing::ContainsRegex("linearize: chunked +no +- .*not causal"));
}

TEST_F(ExplainTest, UnknownLengthsListTheirPlans) {
  std::string table = text(select({.width = 128, .valueWidth = 128}));
  EXPECT_THAT(table, HasSubstr("from L = 0: quadratic (@attention)"));
  EXPECT_THAT(table, HasSubstr("from L = 129: state (@attention__state)"));
  EXPECT_THAT(table, HasSubstr("L = 2nN / (n + N)"));
}

TEST_F(ExplainTest, JsonSaysTheSame) {
  llvm::json::Value value = explainAsJson(select(longCase, {{"linearize", "quadratic"}}));
  const llvm::json::Object *function = (*value.getAsObject()->getArray("functions"))[0].getAsObject();
  EXPECT_EQ(function->getString("device"), "products");
  EXPECT_EQ(function->getInteger("length"), 4096);
  EXPECT_EQ((*function->getArray("plans"))[0].getAsObject()->getString("form"), "quadratic");
  const llvm::json::Array &decisions = *function->getArray("decisions");
  ASSERT_EQ(decisions.size(), 5u);
  const llvm::json::Object &quadratic = *decisions[0].getAsObject(), &chunked = *decisions[3].getAsObject();
  EXPECT_EQ(quadratic.getBoolean("taken"), true);
  EXPECT_EQ(quadratic.getBoolean("pinned"), true);
  EXPECT_EQ(quadratic.getString("reason"), "pinned; 32.0 times the price of the cheapest");
  EXPECT_EQ(quadratic.getObject("work")->getNumber("multiply_adds"), 4294967296.0);
  EXPECT_EQ(chunked.getBoolean("possible"), false);
  EXPECT_EQ(chunked.getObject("work"), nullptr);
  EXPECT_EQ(function->getString("forms"), "linearize: quadratic");
  const llvm::json::Array &rejected = *function->getArray("rejected");
  ASSERT_EQ(rejected.size(), 2u); // in one kernel there are as many products
  EXPECT_EQ(rejected[0].getAsObject()->getString("forms"), "linearize: state");
  EXPECT_EQ(rejected[0].getAsObject()->getNumber("seconds"), 134217728.0);
}

TEST_F(ExplainTest, WhereExactSoftmaxIsFaster) {
  // n = 64: exact softmax has 64² · 256 = 1.05 M products, the pinned state 2 · 64 · 128² = 2.10 M.
  // 129.
  KernelCase shortCase{.queries = 64, .keys = 64, .width = 128, .valueWidth = 128};
  EXPECT_THAT(text(select(shortCase, {{"linearize", "state"}})),
              HasSubstr("2.00 times as slow as exact softmax, another function of these sizes (1048576 s); faster than "
                        "that from L = 129\n"));
}

TEST_F(ExplainTest, CurvesAreThePricesOverTheLength) {
  FunctionSelection function = select({.width = 128, .valueWidth = 128}).functions.front();
  ASSERT_EQ(function.curves.size(), 5u);
  const PriceCurve &taken = function.curves[0];
  EXPECT_EQ(taken.name, "taken");
  EXPECT_EQ(function.curves[1].name, "exact softmax");
  EXPECT_EQ(function.curves[2].name, "linearize: quadratic");
  EXPECT_EQ(function.curves[3].name, "linearize: state");
  EXPECT_EQ(function.curves[4].name, "linearize: fused_state"); // with the same products, and launches less
  EXPECT_EQ(taken.points.front().first, 16);
  EXPECT_EQ(taken.points.back().first, 131072);
  for (auto [index, point] : llvm::enumerate(taken.points)) {
    const PriceCurve &form = function.curves[point.first < 129 ? 2 : 4];
    EXPECT_EQ(point, form.points[index]);
  }
}

TEST(PrintSeconds, ThreeDigitsAndAUnit) {
  EXPECT_EQ(printSeconds(0), "0.00 ns");
  EXPECT_EQ(printSeconds(1.5e-9), "1.50 ns");
  EXPECT_EQ(printSeconds(12.34e-6), "12.3 us");
  EXPECT_EQ(printSeconds(0.9999e-3), "1.00 ms");
  EXPECT_EQ(printSeconds(0.1234), "123 ms");
  EXPECT_EQ(printSeconds(2.5), "2.50 s");
}
