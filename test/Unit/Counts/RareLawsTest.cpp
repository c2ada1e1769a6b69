//===- RareLawsTest.cpp - Laws that are left out, and the sizes that say so ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// W_Q W_Kᵀ and W_V W_O as one matrix a head (identities I6 and I17) make scores or values as wide as the model. The list of laws
// calls them rare: here is what they would cost, by the counts that price everything else.
//
//===----------------------------------------------------------------------===//
#include "ExecutedCounts.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"
#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"
#include "attune/Laws/RewriteLaw.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace attune;
using namespace attune::test;

namespace {
/// A layer of exact attention: D = model, heads of model / heads.
struct Layer {
  int64_t tokens, model, heads;
  int64_t width() const { return model / heads; }
};

class RareLaws : public ::testing::Test {
protected:
  RareLaws() : device(llvm::cantFail(cost::DeviceDescription::named("x86-64-avx512"))) {}

  OwningOpRef<ModuleOp> fromSpec(const std::string &text) {
    Spec spec;
    Diagnostics diagnostics;
    EXPECT_EQ(parseSpec(SourceFile("rare.yaml", "attention: rare\ndtype: f32\nbatch: 1\n" + text), spec, diagnostics), SpecStatus::Good);
    return specToAttn(spec, "rare", *context);
  }
  /// The kernels of every plan that a machine runs.
  std::vector<std::vector<graph::PricedKernel>> plansOf(ModuleOp module, const cost::DeviceDescription &machine) {
    auto laws = graph::createLaws();
    graph::Metric metric(machine);
    graph::Memo memo(*module.getOps<func::FuncOp>().begin(), laws);
    std::vector<std::vector<graph::PricedKernel>> plans;
    for (const SmallVector<unsigned> &choice : graph::enumeratePlans(memo.groups(), memo.feasible(), 64).plans) {
      OwningOpRef<func::FuncOp> plan = memo.realize(choice);
      llvm::Expected<graph::PricedPlan> priced = metric.partition(*plan);
      if (!priced) {
        llvm::consumeError(priced.takeError());
        continue;
      }
      plans.push_back(metric.kernels(*priced, {}));
    }
    return plans;
  }
  /// Of the cheapest plan; as long as can be if the machine runs none.
  double seconds(OwningOpRef<ModuleOp> module) {
    double least = INFINITY;
    for (const auto &kernels : plansOf(*module, device)) {
      double sum = 0;
      for (const graph::PricedKernel &kernel : kernels)
        sum += kernel.price.seconds();
      least = std::min(least, sum);
    }
    return least;
  }
  double secondsOf(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
    EXPECT_TRUE(module);
    return seconds(std::move(module));
  }
  double asItIs(const Layer &l);
  double withOneScoreMatrix(const Layer &l);
  double withOneValueMatrix(const Layer &l);

  std::unique_ptr<MLIRContext> context = countsContext();
  cost::DeviceDescription device;
};
} // namespace

static std::string typeOf(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

/// `body` on the input !x, heads !t, or heads !wide as wide as the model, and the matrices that make them, !w and !ww.
static std::string layerText(const Layer &l, const std::string &arguments, const std::string &body) {
  return "!x = " + typeOf({1, l.tokens, l.model}) + "\n!t = " + typeOf({1, l.heads, l.tokens, l.width()}) +
         "\n!wide = " + typeOf({1, l.heads, l.tokens, l.model}) + "\n!w = " + typeOf({l.model, l.model}) +
         "\n!ww = " + typeOf({l.model, l.heads * l.model}) + "\nfunc.func @layer(%x: !x" + arguments + body + "}";
}

double RareLaws::asItIs(const Layer &l) {
  return secondsOf(layerText(l, ", %wq: !w, %wk: !w, %wv: !w, %wo: !w) -> !x {", R"(
    %q = attn.project %x, %wq : !x, !w -> !t
    %k = attn.project %x, %wk : !x, !w -> !t
    %v = attn.project %x, %wv : !x, !w -> !t
    %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !t -> !t
    %y = attn.project_output %a, %wo : !t, !w -> !x
    return %y : !x )"));
}

/// Scores of x (W_Q W_Kᵀ) with x itself, which is the keys of every head.
double RareLaws::withOneScoreMatrix(const Layer &l) {
  return secondsOf(layerText(l, ", %k: !wide, %wq: !ww, %wv: !w, %wo: !w) -> !x {", R"(
    %q = attn.project %x, %wq : !x, !ww -> !wide
    %v = attn.project %x, %wv : !x, !w -> !t
    %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !wide, !wide, !t -> !t
    %y = attn.project_output %a, %wo : !t, !w -> !x
    return %y : !x )"));
}

/// Values x (W_V W_O), whose sum over the heads is the output.
double RareLaws::withOneValueMatrix(const Layer &l) {
  return secondsOf(layerText(l, ", %wq: !w, %wk: !w, %wv: !ww) -> !wide {", R"(
    %q = attn.project %x, %wq : !x, !w -> !t
    %k = attn.project %x, %wk : !x, !w -> !t
    %v = attn.project %x, %wv : !x, !ww -> !wide
    %a = attn.softmax %q, %k, %v {scale = 0.125 : f64} : !t, !t, !wide -> !wide
    return %a : !wide )"));
}

TEST_F(RareLaws, LoseWithSeveralHeads) {
  for (int64_t tokens : {128, 1024, 16384})
    for (int64_t model : {256, 1024})
      for (int64_t heads = 2; heads <= model / 32; heads *= 4) {
        Layer layer{tokens, model, heads};
        EXPECT_GT(withOneScoreMatrix(layer), asItIs(layer)) << tokens << " " << model << " " << heads;
        EXPECT_GT(withOneValueMatrix(layer), asItIs(layer)) << tokens << " " << model << " " << heads;
      }
}

/// With one head as wide as the model each would save one projection of four. At n = 128 that is a third of the layer's
/// products at most; no model in use has such layers.
TEST_F(RareLaws, SaveOneProjectionOfOneHead) {
  Layer layer{128, 256, 1};
  EXPECT_LT(withOneScoreMatrix(layer), asItIs(layer));
  EXPECT_LT(withOneValueMatrix(layer), asItIs(layer));
  EXPECT_GT(withOneScoreMatrix(layer), .7 * asItIs(layer));
  EXPECT_GT(withOneValueMatrix(layer), .7 * asItIs(layer));
}

//===----------------------------------------------------------------------===//
// Tensor features of polynomials (I8)
//===----------------------------------------------------------------------===//

static constexpr int64_t heads = 8;

static std::string polynomial(int64_t tokens, int64_t width, int64_t degree) {
  return "queries: " + std::to_string(tokens) + "\nheads: 8\nhead_dim: " + std::to_string(width) +
         "\nmechanism: {kind: polynomial, degree: " + std::to_string(degree) + "}\n";
}

/// At least what a state of d^p features takes: (n + N) m c multiply-adds of each head.
static double leastSeconds(int64_t tokens, int64_t width, int64_t degree, const cost::DeviceDescription &device) {
  double features = std::pow(static_cast<double>(width), static_cast<double>(degree));
  double products = 2.0 * static_cast<double>(heads * tokens * (width + 1)) * features;
  return products / (device.productsPerSecond * device.productEfficiency * device.cores);
}

/// d^p features: those of degree 4, the least that published models take, pay at no length that a device could hold.
TEST_F(RareLaws, TensorFeaturesOfPublishedDegreesPayNowhere) {
  for (int64_t tokens : {1024, 16384, 262144})
    for (int64_t width : {32, 64, 128})
      EXPECT_GT(leastSeconds(tokens, width, 4, device), seconds(fromSpec(polynomial(tokens, width, 4)))) << tokens << " " << width;
}

/// Those of degree 2 would, for long sequences; as many random features are an upper bound of what they take.
TEST_F(RareLaws, TensorFeaturesOfDegreeTwoPayForLongSequences) {
  EXPECT_GT(leastSeconds(1024, 64, 2, device), seconds(fromSpec(polynomial(1024, 64, 2))));
  std::string features = "queries: 65536\nheads: 8\nhead_dim: 64\n"
                         "mechanism: {kind: kernel, feature_map: {kind: favor_relu, features: 4096}}\n";
  EXPECT_LT(seconds(fromSpec(features)), seconds(fromSpec(polynomial(65536, 64, 2))));
}

//===----------------------------------------------------------------------===//
// The Hadamard transform of a sketch (I9)
//===----------------------------------------------------------------------===//

/// Additions in place of products could save what sketches compute at most; what they read and write they would still wait
/// for. Of a layer of published sizes that is under a quarter, on every device.
TEST_F(RareLaws, ProductsOfSketchesAreASmallPart) {
  for (const cost::DeviceDescription &machine : cost::DeviceDescription::embedded())
    for (int64_t degree : {4, 8}) {
      OwningOpRef<ModuleOp> module = fromSpec("queries: 16384\nheads: 8\nhead_dim: 64\ncausal: true\nmechanism: {kind: polysketch, degree: " +
                                              std::to_string(degree) + ", size: 32}\n");
      for (const auto &kernels : plansOf(*module, machine)) {
        double all = 0, saved = 0;
        for (const graph::PricedKernel &kernel : kernels) {
          all += kernel.price.seconds();
          if (StringRef(kernel.kernel.kernel).contains("sketch") && kernel.kernel.kernel != "polysketch")
            saved += std::max(kernel.price.compute - std::max(kernel.price.nearMemory, kernel.price.mainMemory), 0.0);
        }
        EXPECT_LT(saved, .25 * all) << machine.name << " " << degree << " saved " << saved / all;
      }
    }
}

//===----------------------------------------------------------------------===//
// Norms of focused queries (I12)
//===----------------------------------------------------------------------===//

/// |y| / |y^p| of a query cancels without a guard: two sums of squares and the factor, five operations an element. Of an
/// attention that is some twentieth, at 32 channels; less with more.
TEST_F(RareLaws, NormsOfFocusedQueriesAreASmallPart) {
  for (int64_t width : {32, 64, 128}) {
    double norms = 5.0 * static_cast<double>(heads * 3136 * width) / device.elementwisePerSecond / device.cores;
    std::string focused = "queries: 3136\nheads: 8\nhead_dim: " + std::to_string(width) +
                          "\nmechanism: {kind: kernel, feature_map: {kind: focused, power: 3}}\n";
    EXPECT_LT(norms, (width > 32 ? .04 : .06) * seconds(fromSpec(focused))) << width;
  }
}
