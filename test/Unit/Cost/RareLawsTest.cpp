//===- RareLawsTest.cpp - Laws that are left out, and the shapes that say so ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// W_Q W_Kᵀ and W_V W_O as one matrix a head (identities I6 and I17) make scores or values as wide as the model. The list of laws
// calls them rare: here is what they would cost, by the estimates that price everything else.
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/AttentionWork.h"
#include "attune/Cost/ChooseSchedule.h"
#include "attune/Cost/KernelPrice.h"

#include "gtest/gtest.h"

using namespace attune;
using namespace attune::cost;

namespace {
/// A layer of exact attention: D = model, heads of model / heads.
struct Layer {
  int64_t tokens, model, heads;
  int64_t width() const { return model / heads; }
};

class RareLaws : public ::testing::Test {
protected:
  RareLaws() : device(llvm::cantFail(DeviceDescription::named("x86-64-avx512"))) {
    context.loadDialect<tile::TileDialect, attn::AttnDialect>();
  }

  static AttentionShape softmax(const Layer &l, int64_t keyHeads, int64_t width, int64_t valueWidth) {
    AttentionShape shape;
    shape.family = Family::Softmax, shape.form = attn::Form::Online;
    shape.heads = l.heads, shape.sharedHeads = keyHeads, shape.queries = shape.keys = l.tokens;
    shape.width = shape.features = width, shape.valueWidth = valueWidth;
    return shape;
  }
  static AttentionShape projection(const Layer &l, int64_t width, Family family = Family::Project) {
    AttentionShape shape;
    shape.family = family, shape.heads = l.heads, shape.width = width, shape.model = l.model;
    shape.queries = shape.keys = l.tokens;
    return shape;
  }
  double seconds(llvm::ArrayRef<AttentionShape> shapes) {
    auto schedule = llvm::cantFail(chooseSchedule(shapes.front(), mlir::Float32Type::get(&context), device));
    double sum = 0;
    for (const AttentionShape &shape : shapes)
      for (const KernelWork &kernel : attentionWork(shape, schedule))
        sum += priceOf(kernel.work, device).seconds();
    return sum;
  }
  double asItIs(const Layer &l) {
    int64_t d = l.width();
    return seconds({softmax(l, l.heads, d, d), projection(l, d), projection(l, d), projection(l, d),
                    projection(l, d, Family::ProjectOutput)});
  }
  /// Scores of x (W_Q W_Kᵀ) with x itself.
  double withOneScoreMatrix(const Layer &l) {
    return seconds({softmax(l, 1, l.model, l.width()), projection(l, l.model), projection(l, l.width()),
                    projection(l, l.width(), Family::ProjectOutput)});
  }
  /// Values x (W_V W_O), whose sum over the heads is the output.
  double withOneValueMatrix(const Layer &l) {
    return seconds({softmax(l, l.heads, l.width(), l.model), projection(l, l.width()), projection(l, l.width()),
                    projection(l, l.model)});
  }

  mlir::MLIRContext context;
  DeviceDescription device;
};
} // namespace

TEST_F(RareLaws, LoseWithSeveralHeads) {
  for (int64_t tokens : {128, 1024, 4096, 16384})
    for (int64_t model : {256, 512, 1024, 4096})
      for (int64_t heads = 2; heads <= model / 32; heads *= 2) {
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

static int64_t power(int64_t base, int64_t degree) { return degree ? base * power(base, degree - 1) : 1; }

/// One head of `width`, of pairs of tokens or through a state of its tensor features.
static AttentionShape polynomial(int64_t tokens, int64_t width, int64_t degree, bool features) {
  AttentionShape shape;
  shape.family = features ? Family::Kernel : Family::Polynomial;
  shape.form = features ? attn::Form::State : attn::Form::Quadratic;
  shape.heads = shape.sharedHeads = shape.featureHeads = 8, shape.queries = shape.keys = tokens;
  shape.width = shape.valueWidth = width, shape.degree = degree;
  shape.features = features ? power(width, degree) : width;
  return shape;
}

/// d^p features: those of degree 4, the least that published models take, pay at no length that a device could hold.
TEST_F(RareLaws, TensorFeaturesOfPublishedDegreesPayNowhere) {
  for (int64_t tokens : {1024, 16384, 262144})
    for (int64_t width : {32, 64, 128})
      EXPECT_GT(seconds(polynomial(tokens, width, 4, true)), seconds(polynomial(tokens, width, 4, false)))
          << tokens << " " << width;
}

/// Those of degree 2 would, for long sequences.
TEST_F(RareLaws, TensorFeaturesOfDegreeTwoPayForLongSequences) {
  EXPECT_GT(seconds(polynomial(1024, 64, 2, true)), seconds(polynomial(1024, 64, 2, false)));
  EXPECT_LT(seconds(polynomial(65536, 64, 2, true)), seconds(polynomial(65536, 64, 2, false)));
}

//===----------------------------------------------------------------------===//
// The Hadamard transform of a sketch (I9)
//===----------------------------------------------------------------------===//

/// Additions in place of products could save what sketches compute at most; what they read and write they would still wait
/// for. Of a layer of published sizes that is under a quarter, on every device.
TEST_F(RareLaws, ProductsOfSketchesAreASmallPart) {
  for (const DeviceDescription &machine : DeviceDescription::embedded())
    for (int64_t degree : {4, 8}) {
      AttentionShape shape = polynomial(16384, 64, degree, false);
      shape.family = Family::Polysketch, shape.form = attn::Form::Chunked, shape.causal = true;
      shape.sketch = 32, shape.features = 32 * 32;
      auto schedule = llvm::cantFail(chooseSchedule(shape, mlir::Float32Type::get(&context), machine));
      double all = 0, saved = 0;
      for (const KernelWork &kernel : attentionWork(shape, schedule)) {
        KernelPrice price = priceOf(kernel.work, machine);
        all += price.seconds();
        if (llvm::StringRef(kernel.kernel).contains("sketch"))
          saved += std::max(price.compute - std::max(price.nearMemory, price.mainMemory), 0.0);
      }
      EXPECT_LT(saved, .25 * all) << machine.name << " " << degree << " saved " << saved / all;
    }
}

//===----------------------------------------------------------------------===//
// Norms of focused queries (I12)
//===----------------------------------------------------------------------===//

/// |y| / |y^p| of a query cancels without a guard: two sums of squares and the factor, five operations an element. Of an
/// attention that is some twentieth, at 32 channels; less with more.
TEST_F(RareLaws, NormsOfFocusedQueriesAreASmallPart) {
  for (int64_t width : {32, 64, 128}) {
    AttentionShape shape = polynomial(3136, width, 1, true);
    shape.map = attn::FeatureMapAttr::get(&context, attn::FeatureKind::Focused, 0, 1e-6, 0, 3);
    double norms = 5.0 * static_cast<double>(shape.heads * shape.queries * width) / device.elementwisePerSecond / device.cores;
    EXPECT_LT(norms, (width > 32 ? .04 : .06) * seconds(shape)) << width;
  }
}
