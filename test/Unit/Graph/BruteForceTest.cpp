//===- BruteForceTest.cpp - Within the bound the cheapest plan is taken -------------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   for every graph, device and number of cores:
//     for every combination of forms that can be built:      counted here, digit by digit, not by enumeratePlans
//       price = the sum of the prices of its kernels          made anew for every plan: no cache
//     sort
//     selectRewrites takes the first, keeps the next ten, and has priced them all
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"
#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;

namespace {
class BruteForceTest : public GraphTest {
protected:
  /// The layer of @p text on the devices and numbers of cores below.
  void compare(const std::string &name, const std::string &text);
};
} // namespace

/// Prices of all plans that the device can run, sorted. Where a plan does away with an op, the forms of that op are no choice.
static std::vector<double> allPrices(func::FuncOp function, const cost::DeviceDescription &device) {
  auto laws = createLaws();
  loadDialectsOfKernels(*function.getContext());
  Memo memo(function, laws);
  std::vector<double> prices;
  SmallVector<unsigned> digits(memo.groups().size(), 0);
  while (true) {
    bool possible = true;
    for (auto [group, digit] : llvm::zip_equal(memo.groups(), digits))
      possible &= group.alternatives[digit].feasible();
    llvm::SmallBitVector computed;
    OwningOpRef<func::FuncOp> plan = possible ? memo.realize(digits, &computed) : OwningOpRef<func::FuncOp>();
    for (size_t group = 0; plan && group < digits.size(); ++group)
      possible &= computed[group] || digits[group] == 0;
    if (possible) {
      Metric metric(device); // of its own, so that no plan has kernels of another one
      llvm::Expected<PricedPlan> priced = metric.partition(*plan);
      double seconds = 0;
      if (!priced) {
        llvm::consumeError(priced.takeError());
      } else {
        for (const PricedKernel &kernel : metric.kernels(*priced, {}))
          seconds += kernel.price.seconds();
      }
      if (seconds > 0)
        prices.push_back(seconds);
    }
    size_t place = 0; // the first group varies fastest, the other way round than in selection
    while (place < digits.size() && ++digits[place] == memo.groups()[place].alternatives.size())
      digits[place++] = 0;
    if (place == digits.size())
      break;
  }
  llvm::sort(prices);
  return prices;
}

void BruteForceTest::compare(const std::string &name, const std::string &text) {
  for (const char *deviceName : {"x86-64-avx512", "x86-64-avx2", "a100-40gb", "h100-sxm"})
    for (int64_t threads : {1, 2, 16}) {
      SelectOptions options{llvm::cantFail(cost::DeviceDescription::named(deviceName)), {}};
      options.device.runOn(threads);
      std::string where = name + " on " + deviceName + ", " + std::to_string(threads) + " threads";
      OwningOpRef<ModuleOp> module = parse(text);
      std::vector<double> prices = allPrices(*module->getOps<func::FuncOp>().begin(), options.device);
      FailureOr<Selection> selection = selectRewrites(*module, options);
      ASSERT_TRUE(succeeded(selection)) << where;
      const FunctionSelection &function = selection->functions[0];
      EXPECT_TRUE(function.complete) << where;
      EXPECT_EQ(function.priced, static_cast<int64_t>(prices.size())) << where;
      EXPECT_NEAR(function.seconds, prices[0], 1e-9 * prices[0]) << where;
      ASSERT_EQ(function.rejected.size(), std::min<size_t>(prices.size() - 1, 10)) << where;
      for (auto [place, plan] : llvm::enumerate(function.rejected))
        EXPECT_NEAR(plan.seconds, prices[place + 1], 1e-9 * plan.seconds) << where << ", place " << place + 1;
    }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// `attn.kernel` of H heads over G; `map` and `more` are texts.
static std::string kernelOp(const std::string &q, const std::string &k, const std::string &operands,
                            const std::string &map, const std::string &qType, const std::string &kType, bool causal) {
  return "attn.kernel " + q + ", " + k + ", " + k + operands + " {" + (causal ? "causal, " : "") +
         "denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<" + map + ">} : " +
         qType + ", " + kType + ", " + kType + " -> " + qType;
}

/// Three attentions of different lengths, one of them of groups: 2 · 2 · 3 plans on a CPU.
TEST_F(BruteForceTest, ThreeAttentions) {
  for (int64_t n : {48, 200, 3000}) {
    std::string s = "tensor<1x2x" + std::to_string(n) + "x64xf32>", l = "tensor<1x4x" + std::to_string(2 * n) + "x32xf32>",
                g = "tensor<1x1x" + std::to_string(2 * n) + "x32xf32>";
    compare("three, n = " + std::to_string(n),
            "func.func @three(%s: " + s + ", %l: " + l + ", %g: " + g + ") -> (" + s + ", " + s + ", " + l + ") {\n  %a = " +
                kernelOp("%s", "%s", "", "elu1", s, s, false) + "\n  %b = " +
                kernelOp("%s", "%s", "", "relu", s, s, true) + "\n  %c = " +
                kernelOp("%l", "%g", "", "elu1", l, g, true) + "\n  return %a, %b, %c : " + s + ", " + s + ", " + l + "\n}\n");
  }
}

/// A layer with E between the projections and the map, W and omega given to prepare: each of q, k, v has a choice, and
/// E x counts once.
static std::string flurka(int64_t n, int64_t model, int64_t slots, int64_t features) {
  auto tensor = [](std::initializer_list<int64_t> shape) {
    return "tensor<" + llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), "x") + "xf32>";
  };
  std::string x = tensor({1, n, model}), w = tensor({model, 64}), e = tensor({1, slots, n}),
              omega = tensor({1, features, 32}), q = tensor({1, 2, n, 32}), k = tensor({1, 2, slots, 32});
  std::string text = "func.func @layer(%x: " + x;
  for (const char *name : {"wq", "wk", "wv"})
    text += std::string(", %") + name + ": " + w + " {attn.name = \"" + name + "\", attn.parameter}";
  text += ", %e: " + e + " {attn.name = \"e\", attn.parameter}, %omega: " + omega +
          " {attn.name = \"omega\", attn.parameter}) -> " + q + " {\n";
  for (const char *name : {"q", "k", "v"})
    text += std::string("  %") + name + " = attn.project %x, %w" + name + " : " + x + ", " + w + " -> " + q + "\n";
  for (const char *name : {"k", "v"})
    text += std::string("  %s") + name + " = attn.compress %" + name + ", %e : " + q + ", " + e + " -> " + k + "\n";
  return text + "  %o = attn.kernel %q, %sk, %sv parameter(%omega : " + omega +
         ") {denominator = #attn.denominator<bias = 0.0, floor = 0.0>, feature_map = #attn.feature_map<favor_relu, "
         "features = " +
         std::to_string(features) + ", epsilon = 0.0>} : " + q + ", " + k + ", " + k + " -> " + q + "\n  return %o : " + q +
         "\n}\n";
}

TEST_F(BruteForceTest, ProjectedAndCompressed) {
  for (auto [n, model, slots, features] :
       {std::array<int64_t, 4>{96, 64, 16, 32}, {512, 96, 64, 16}, {2048, 256, 32, 64}, {300, 64, 256, 128}})
    compare("layer, n = " + std::to_string(n), flurka(n, model, slots, features));
}

/// A bound that cuts: the cheapest of what was priced, and it is said that there was more.
TEST_F(BruteForceTest, TheBoundIsTold) {
  OwningOpRef<ModuleOp> module = parse(flurka(512, 96, 64, 16));
  SelectOptions options{llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512")), {}};
  options.planBound = 4;
  FailureOr<Selection> selection = selectRewrites(*module, options);
  ASSERT_TRUE(succeeded(selection));
  EXPECT_FALSE(selection->functions[0].complete);
  EXPECT_LE(selection->functions[0].priced, 4);
}

/// Each place of the order of prices can be taken, at the price that was told; one more is an error.
TEST_F(BruteForceTest, EveryPlaceCanBeTaken) {
  SelectOptions options{llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512")), {}};
  std::string text = flurka(512, 96, 64, 16), message;
  OwningOpRef<ModuleOp> first = parse(text);
  FailureOr<Selection> cheapest = selectRewrites(*first, options);
  ASSERT_TRUE(succeeded(cheapest));
  const FunctionSelection &told = cheapest->functions[0];
  ASSERT_GT(told.priced, 4);
  for (options.place = 1; options.place < 4; ++options.place) {
    OwningOpRef<ModuleOp> module = parse(text);
    FailureOr<Selection> other = selectRewrites(*module, options);
    ASSERT_TRUE(succeeded(other));
    EXPECT_EQ(other->functions[0].takenForms, told.rejected[options.place - 1].forms);
    EXPECT_DOUBLE_EQ(other->functions[0].seconds, told.rejected[options.place - 1].seconds);
  }
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  options.place = told.priced;
  OwningOpRef<ModuleOp> module = parse(text);
  EXPECT_TRUE(failed(selectRewrites(*module, options)));
  EXPECT_EQ(message, "expected a place below " + std::to_string(told.priced) + ", the number of plans, but got " +
                         std::to_string(told.priced));
}
