//===- SelectionTest.cpp - What is committed is the cheapest, and always the same -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"
#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;

namespace {
class SelectionTest : public GraphTest {};
} // namespace

/// Two attentions of different sizes in one function: quadratic is cheaper for the short one, state for the long one.
static const char *twoAttentions = R"mlir(
func.func @two(%q: tensor<1x1x64x128xf32>, %k: tensor<1x1x64x128xf32>, %x: tensor<1x1x4096x128xf32>)
    -> (tensor<1x1x64x128xf32>, tensor<1x1x4096x128xf32>) {
  %a = attn.kernel %q, %k, %k {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32>, tensor<1x1x64x128xf32> -> tensor<1x1x64x128xf32>
  %b = attn.kernel %x, %x, %x {causal, denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<elu1>}
      : tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32>, tensor<1x1x4096x128xf32> -> tensor<1x1x4096x128xf32>
  return %a, %b : tensor<1x1x64x128xf32>, tensor<1x1x4096x128xf32>
}
)mlir";

TEST_F(SelectionTest, TheCheapestOfAllPlansIsCommitted) {
  OwningOpRef<ModuleOp> module = parse(twoAttentions);
  SelectOptions options = this->options();
  auto laws = createLaws();
  loadDialectsOfKernels(*module->getContext());
  Metric metric(options.device);
  Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
  // Combinations by hand: {quadratic, state} × {quadratic, chunked}.
  double least = INFINITY;
  for (unsigned first : {0, 1})
    for (unsigned second : {0, 4}) {
      OwningOpRef<func::FuncOp> plan = memo.realize({first, second});
      PricedPlan priced = llvm::cantFail(metric.partition(*plan));
      ASSERT_EQ(priced.attentions.size(), 2u);
      least = std::min(least, metric.price(priced, {}).seconds);
    }
  FailureOr<Selection> selection = selectRewrites(*module, options);
  ASSERT_TRUE(succeeded(selection));
  EXPECT_DOUBLE_EQ(selection->functions[0].seconds, least);
  std::string text = print(*module);
  EXPECT_NE(text.find("attn.contract"), std::string::npos);       // the short one
  EXPECT_NE(text.find("attn.causal_readout"), std::string::npos); // the long one
  EXPECT_EQ(text.find("attn.state"), std::string::npos);
  EXPECT_TRUE(succeeded(verify(*module)));
  // 64 · 64 · 256 products of the short one; 64 · 2 · 64 · 128 · (128 + 1) of the long one, through a state and through one of sums; two launches.
  EXPECT_NEAR(least, 64.0 * 64 * 256 + 64.0 * (2 * 64 * 128 * (128 + 1)), 1e-3);
}

TEST_F(SelectionTest, TheBoundKeepsPinsAndSaysSo) {
  OwningOpRef<ModuleOp> module = parse(twoAttentions);
  SelectOptions options = this->options();
  options.planBound = 1;
  FailureOr<Selection> selection = selectRewrites(*module, options);
  ASSERT_TRUE(succeeded(selection));
  EXPECT_FALSE(selection->functions[0].complete);
}

TEST_F(SelectionTest, TheSameModuleTwice) {
  KernelCase c{
      .batch = 0, .heads = 4, .sharedHeads = 2, .width = 64, .valueWidth = 40, .causal = true, .element = "bf16"};
  std::string texts[2];
  for (std::string &text : texts) {
    OwningOpRef<ModuleOp> module = parse(c);
    ASSERT_TRUE(succeeded(selectRewrites(*module, options())));
    text = print(*module);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

/// Where state takes over with d = m = dv = 128: from three tiles of queries and keys.
TEST_F(SelectionTest, ThresholdsHoldAtTheirSides) {
  OwningOpRef<ModuleOp> module = parse(KernelCase{.width = 128, .valueWidth = 128});
  FailureOr<Selection> selection = selectRewrites(*module, options());
  ASSERT_TRUE(succeeded(selection));
  ASSERT_EQ(selection->functions[0].plans.size(), 2u);
  EXPECT_EQ(selection->functions[0].plans[1].from, 129);
  for (auto [length, form] : {std::pair<int64_t, attn::Form>{128, attn::Form::Quadratic}, {129, attn::Form::State}}) {
    OwningOpRef<ModuleOp> fixed = parse(KernelCase{.queries = length, .keys = length, .width = 128, .valueWidth = 128});
    FailureOr<Selection> alone = selectRewrites(*fixed, options());
    ASSERT_TRUE(succeeded(alone));
    EXPECT_EQ(alone->functions[0].plans[0].form, form) << length;
  }
}

TEST_F(SelectionTest, OneKnownLengthBoundsL) {
  // 64 queries, unknown keys: L = 128 N / (64 + N) stays below 128. One tile of queries costs quadratic 64·256 a key,
  // and state 128² a key and 128² a query: cheaper never, for 64·256 = 128². Half the widths: state is cheaper from N
  // = 65.
  OwningOpRef<ModuleOp> module = parse(KernelCase{.queries = 64, .width = 128, .valueWidth = 128});
  FailureOr<Selection> selection = selectRewrites(*module, options());
  ASSERT_TRUE(succeeded(selection));
  EXPECT_EQ(selection->functions[0].plans.size(), 1u);
  EXPECT_EQ(selection->functions[0].plans[0].form, attn::Form::Quadratic);
  EXPECT_LT(selection->functions[0].length, 128);

  module = parse(KernelCase{.queries = 64, .width = 32, .valueWidth = 32});
  selection = selectRewrites(*module, options());
  ASSERT_TRUE(succeeded(selection));
  // Quadratic 64 · 64 products a tile of keys and of queries, state 32² a key and a query: cheaper for every N.
  EXPECT_EQ(selection->functions[0].plans.size(), 1u);
  EXPECT_EQ(selection->functions[0].plans[0].form, attn::Form::State);
}

TEST_F(SelectionTest, PinsOfUnknownLawsAndFormsAreErrors) {
  OwningOpRef<ModuleOp> module = parse(KernelCase{});
  std::string before = print(*module), message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(selectRewrites(*module, options({{"linearise", "state"}}))));
  EXPECT_EQ(message, "expected the name of a law (linearize, fold, low_rank, project, project_out, map, launch, keys) in a pin, but got 'linearise'");
  EXPECT_TRUE(failed(selectRewrites(*module, options({{"linearize", "chunked"}}))));
  EXPECT_EQ(print(*module), before);
}

TEST_F(SelectionTest, NamesOfTheModuleAreNotTaken) {
  OwningOpRef<ModuleOp> module =
      parse("func.func private @elu1__state()\n"
            "func.func @elu1(%q: tensor<?x1x?x128xf32>) -> tensor<?x1x?x128xf32> {\n"
            "  %o = attn.kernel %q, %q, %q {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = "
            "#attn.feature_map<elu1>} : tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32>, tensor<?x1x?x128xf32> -> "
            "tensor<?x1x?x128xf32>\n  return %o : tensor<?x1x?x128xf32>\n}\n");
  FailureOr<Selection> selection = selectRewrites(*module, options());
  ASSERT_TRUE(succeeded(selection));
  EXPECT_EQ(selection->functions[0].plans[1].name, "elu1__state_2");
  EXPECT_TRUE(succeeded(verify(*module)));
}
