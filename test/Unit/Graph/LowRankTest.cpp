//===- LowRankTest.cpp - E before and after the projection, by the interpreter ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"
#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"
#include "attune/Reference/EvalAttn.h"

#include "llvm/Support/FormatVariadic.h"

#include <random>

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;
using reference::Array;

namespace {
/// Sizes of a layer of low rank; the keys come from a context of their own.
struct LayerCase {
  int64_t batch, tokens, model, heads, shared, width, slots;
  bool tied, perHead, bias, lengths;
};

class LowRankTest : public GraphTest {
protected:
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  Array draw(ArrayRef<int64_t> shape) {
    Array array(shape);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < array.bufferCount(); ++i)
      array.element(i) = normal(random);
    return array;
  }
  LayerCase drawCase() {
    int64_t shared = pick(1, 3);
    return {pick(1, 2), pick(1, 9), pick(1, 7), shared * pick(1, 2), shared, pick(1, 4), pick(1, 5),
            pick(0, 1) == 1, pick(0, 1) == 1, pick(0, 1) == 1, pick(0, 1) == 1};
  }
  std::vector<Array> drawInputs(const LayerCase &c);
  OwningOpRef<ModuleOp> layer(const LayerCase &c);

  std::mt19937_64 random{5};
};
} // namespace

OwningOpRef<ModuleOp> LowRankTest::layer(const LayerCase &c) {
  std::string x = llvm::formatv("tensor<{0}x{1}x{2}xf32>", c.batch, c.tokens, c.model);
  std::string q = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", c.batch, c.heads, c.tokens, c.width);
  std::string k = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", c.batch, c.shared, c.tokens, c.width);
  std::string s = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", c.batch, c.shared, c.slots, c.width);
  std::string w = llvm::formatv("tensor<{0}x{1}xf32>", c.model, c.shared * c.width);
  std::string b = llvm::formatv("tensor<{0}xf32>", c.shared * c.width);
  std::string e = llvm::formatv("tensor<{0}x{1}x{2}xf32>", c.perHead ? c.shared : 1, c.slots, c.tokens);
  std::string l = llvm::formatv("tensor<{0}xi32>", c.batch);
  std::string bias = c.bias ? " bias(%b : " + b + ")" : "", lengths = c.lengths ? " lengths(%l : " + l + ")" : "";
  std::string project = bias + " : " + x + ", " + w + " -> " + k, types = " : " + k + ", " + e + " -> " + s;
  return parse("func.func @layer(%q: " + q + ", %x: " + x + ", %wk: " + w + ", %wv: " + w + ", %e: " + e + ", %f: " + e +
               ", %b: " + b + ", %l: " + l + ") -> " + q + " {\n" +
               "  %k = attn.project %x, %wk" + project + "\n  %v = attn.project %x, %wv" + project +
               "\n  %sk = attn.compress %k, %e" + lengths + types + "\n  %sv = attn.compress %v, " +
               (c.tied ? "%e" : "%f") + lengths + types + "\n  %o = attn.softmax %q, %sk, %sv {scale = 5.0e-1 : f64} : " + q +
               ", " + s + ", " + s + " -> " + q + "\n  return %o : " + q + "\n}\n");
}

std::vector<Array> LowRankTest::drawInputs(const LayerCase &c) {
  int64_t columns = c.shared * c.width, ownHeads = c.perHead ? c.shared : 1;
  std::vector<Array> inputs{draw({c.batch, c.heads, c.tokens, c.width}), draw({c.batch, c.tokens, c.model}),
                            draw({c.model, columns}),                    draw({c.model, columns}),
                            draw({ownHeads, c.slots, c.tokens}),         draw({ownHeads, c.slots, c.tokens}),
                            draw({columns})};
  Array lengths({c.batch});
  for (int64_t b = 0; b < c.batch; ++b) {
    lengths.element(b) = pick(0, c.tokens);
    if (c.lengths) // nobody reads tokens that do not exist
      for (auto t = static_cast<int64_t>(lengths.element(b)); t < c.tokens; ++t)
        inputs[1].at({b, t, 0})[0] = NAN;
  }
  inputs.push_back(lengths);
  return inputs;
}

TEST_F(LowRankTest, BothOrdersAreEqual) {
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    LayerCase c = drawCase();
    OwningOpRef<ModuleOp> module = layer(c);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    std::vector<Array> inputs = drawInputs(c);
    FailureOr<std::vector<Array>> expected = reference::evalAttn(function, inputs);
    ASSERT_TRUE(succeeded(expected));
    auto laws = createLaws();
    Memo memo(function, laws);
    ASSERT_EQ(memo.groups().size(), 5u); // two compressions, where the two projections are computed, and the order of keys
    for (SmallVector<unsigned> choice :
         {SmallVector<unsigned>{0, 0, 0, 1, 1}, {0, 1, 1, 0, 0}, {1, 0, 1, 1, 0}, {1, 1, 0, 0, 1}}) {
      FailureOr<std::vector<Array>> found = reference::evalAttn(*memo.realize(choice), inputs);
      ASSERT_TRUE(succeeded(found));
      EXPECT_LE(difference((*found)[0], (*expected)[0]), 1e-10) << choice[0] << choice[1] << print(function);
    }
  }
}

/// E x is one kernel for keys and values of one E, and two otherwise; sums are made where there is a bias, once.
TEST_F(LowRankTest, OneInputIsCompressedOnce) {
  LayerCase c{1, 256, 128, 2, 2, 64, 64, true, false, true, false};
  auto kernels = [&](const LayerCase &each) {
    OwningOpRef<ModuleOp> module = layer(each);
    auto laws = createLaws();
    Memo memo(*module->getOps<func::FuncOp>().begin(), laws);
    auto plan = memo.realize({1, 1, 0, 0});
    llvm::SmallVector<cost::Family> families;
    for (const cost::AttentionShape &shape : attentionsOf(*plan))
      families.push_back(shape.family);
    return families;
  };
  using cost::Family;
  using Families = llvm::SmallVector<Family>;
  EXPECT_EQ(kernels(c), (Families{Family::Compress, Family::SlotSums, Family::ProjectSlots, Family::ProjectSlots,
                                  Family::Softmax}));
  c.bias = false;
  EXPECT_EQ(kernels(c), (Families{Family::Compress, Family::ProjectSlots, Family::ProjectSlots, Family::Softmax}));
  c.tied = false;
  EXPECT_EQ(kernels(c), (Families{Family::Compress, Family::ProjectSlots, Family::Compress, Family::ProjectSlots,
                                  Family::Softmax}));
}

TEST_F(LowRankTest, WinsWhereHeadsAreManyAndLosesWhereTheyAreFew) {
  // Linformer's layer: D = 512, 8 heads of 64, N = 4096, k = 256, on products alone. For keys and values both,
  // 2 (N D² + N k D) against N k D + 2 k D²: 3.2e9 against .67e9.
  LayerCase c{1, 4096, 512, 8, 8, 64, 256, true, false, false, false};
  auto takes = [&](const LayerCase &each) {
    OwningOpRef<ModuleOp> module = layer(each);
    FailureOr<Selection> selection = selectRewrites(*module, options());
    EXPECT_TRUE(succeeded(selection));
    llvm::SmallVector<std::string> taken;
    for (const Decision &decision : selection->functions[0].decisions)
      if (decision.taken && decision.law == "low_rank")
        taken.push_back(decision.form);
    return taken;
  };
  using Forms = llvm::SmallVector<std::string>;
  EXPECT_EQ(takes(c), (Forms{"compress_first", "compress_first"}));
  // An E of each head: H N k D instead of N k D.
  c.perHead = true;
  EXPECT_EQ(takes(c), (Forms{"project_first", "project_first"}));
  // ... which pays for few slots: k < d.
  c.slots = 16;
  EXPECT_EQ(takes(c), (Forms{"compress_first", "compress_first"}));
}
