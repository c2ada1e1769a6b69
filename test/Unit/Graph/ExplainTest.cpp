//===- ExplainTest.cpp - The account of a selection -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/Explain.h"
#include "GraphFixture.h"
#include "attune/Laws/RewriteLaw.h"

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
              HasSubstr("@attention on products, 1 thread: 134217728 s predicted at n = 4096, batch 1, by linearize: "
                        "state, map: fused\n"
                        "  exact softmax, another function, would take 4294967296 s: 32.0 times as long; it is faster "
                        "below n = 129\n"
                        "  the next plan, with map: materialized instead, would take 134217728 s: just as long; "
                        "linearize: quadratic is cheaper below n = 129\n")); // there are as many products
  // q, k, v, o of 4 · 4096 · 128 bytes; the state of 4 · 128 · 129 is written twice, read twice, written and read
  // merged.
  EXPECT_THAT(table, HasSubstr("executes 134M multiply-adds and 1.05M exponentials, and moves 8.78 MB, in 3 kernels"));
  EXPECT_THAT(table, ::testing::ContainsRegex(
                         "linearize: quadratic +no +4\\.29G +34\\.1M .*32\\.0 times the price; cheaper below n = 129"));
  EXPECT_THAT(table, ::testing::ContainsRegex("linearize: state +taken +134M +1\\.05M .*the cheapest"));
  EXPECT_THAT(table, HasSubstr("not possible: linearize: chunked, linearize: split, linearize: grouped\n    chunks order queries and keys"));
  EXPECT_THAT(table, ::testing::ContainsRegex("    quadratic +every query with every key"));
}

TEST_F(ExplainTest, UnknownLengthsListTheirPlans) {
  std::string table = text(select({.width = 128, .valueWidth = 128}));
  EXPECT_THAT(table, HasSubstr("below n = 129: linearize: quadratic, map: fused (@attention)"));
  EXPECT_THAT(table, HasSubstr("from n = 129: linearize: fused_state, map: fused (@attention__state)"));
  EXPECT_THAT(table, HasSubstr("read n as L = 2nN / (n + N)"));
  EXPECT_THAT(table, HasSubstr("sizes that the spec leaves open are taken as n = 4096"));
}

TEST_F(ExplainTest, UnequalLengthsAreToldApart) {
  std::string table = text(select({.queries = 1, .keys = 8000, .width = 128, .valueWidth = 128}));
  EXPECT_THAT(table, HasSubstr("predicted at n = 1, N = 8000, batch 1"));
  EXPECT_THAT(table, HasSubstr("by L = 2nN / (n + N), here 2\n"));
}

TEST_F(ExplainTest, APinSaysWhatItCosts) {
  std::string table = text(select(longCase, {{"linearize", "quadratic"}}));
  EXPECT_THAT(table, HasSubstr("  without the pin linearize: state would take 134217728 s: 32.0 times as fast"));
}

TEST_F(ExplainTest, JsonSaysTheSame) {
  llvm::json::Value value = explainAsJson(select(longCase, {{"linearize", "quadratic"}}));
  const llvm::json::Object *function = (*value.getAsObject()->getArray("functions"))[0].getAsObject();
  EXPECT_EQ(function->getString("device"), "products");
  EXPECT_EQ(function->getInteger("length"), 4096);
  EXPECT_EQ((*function->getArray("plans"))[0].getAsObject()->getString("form"), "quadratic");
  const llvm::json::Array &decisions = *function->getArray("decisions");
  ASSERT_EQ(decisions.size(), 9u); // seven forms, and two places of the map
  const llvm::json::Object &quadratic = *decisions[0].getAsObject(), &chunked = *decisions[4].getAsObject();
  EXPECT_EQ(quadratic.getBoolean("taken"), true);
  EXPECT_EQ(quadratic.getBoolean("pinned"), true);
  EXPECT_EQ(quadratic.getString("reason"), "pinned; 32.0 times the price of the cheapest");
  EXPECT_EQ(quadratic.getObject("work")->getNumber("multiply_adds"), 4294967296.0);
  EXPECT_EQ(chunked.getBoolean("possible"), false);
  EXPECT_EQ(chunked.getObject("work"), nullptr);
  EXPECT_EQ(function->getString("forms"), "linearize: quadratic, map: fused");
  const llvm::json::Array &rejected = *function->getArray("rejected");
  ASSERT_EQ(rejected.size(), 7u); // in one kernel, in two, and with the map alone there are as many products
  EXPECT_EQ(rejected[0].getAsObject()->getString("forms"), "linearize: state, map: fused");
  EXPECT_EQ(rejected[0].getAsObject()->getNumber("seconds"), 134217728.0);
}

TEST_F(ExplainTest, WhereExactSoftmaxIsFaster) {
  // n = 64: exact softmax has 64² · 256 = 1.05 M products, the pinned state 2 · 64 · 128² = 2.10 M.
  // 129.
  KernelCase shortCase{.queries = 64, .keys = 64, .width = 128, .valueWidth = 128};
  EXPECT_THAT(text(select(shortCase, {{"linearize", "state"}})),
              HasSubstr("exact softmax, another function, would take 1048576 s: 2.00 times as fast; it is slower from n "
                        "= 129\n"));
}

TEST_F(ExplainTest, CurvesAreThePricesOverTheLength) {
  FunctionSelection function = select({.width = 128, .valueWidth = 128}).functions.front();
  ASSERT_EQ(function.curves.size(), 8u);
  const PriceCurve &taken = function.curves[0];
  EXPECT_EQ(taken.name, "taken");
  EXPECT_EQ(function.curves[1].name, "exact softmax");
  EXPECT_EQ(function.curves[2].name, "linearize: quadratic");
  EXPECT_EQ(function.curves[3].name, "linearize: state");
  EXPECT_EQ(function.curves[4].name, "linearize: fused_state"); // with the same products, and launches less
  EXPECT_EQ(function.curves[5].name, "linearize: merged_state");
  EXPECT_EQ(function.curves[7].name, "map: materialized"); // with a launch more
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

TEST(PrintNumbers, Units) {
  EXPECT_EQ(printBytes(16.8e6), "16.8 MB");
  EXPECT_EQ(printBytes(512), "512 B");
  EXPECT_EQ(printCount(4.294967296e9), "4.29G");
  EXPECT_EQ(printCount(3.072e17), "307P");
  EXPECT_EQ(printRatio(113664), "114k");
  EXPECT_EQ(comparePrice(21.2, 1.13), "18.8 times as long");
  EXPECT_EQ(comparePrice(103, 100), "3.0 % longer");
  EXPECT_EQ(comparePrice(98, 100), "2.0 % less");
  EXPECT_EQ(comparePrice(1, 1.0001), "just as long");
  EXPECT_EQ(comparePrice(1, 1.35), "1.35 times as fast");
}

TEST(FormTexts, EveryFormHasOne) {
  for (const auto &law : createLaws())
    for (llvm::StringRef form : law->formNames())
      EXPECT_FALSE(describeForm(law->name(), form).empty()) << law->name().str() << ": " << form.str();
  EXPECT_EQ(describeForm("linearize", "folded"), "");
}
