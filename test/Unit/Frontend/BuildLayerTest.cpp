//===- BuildLayerTest.cpp - What stands around a mechanism, and its order ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BuiltSpec.h"

#include "attune/Frontend/SpecTensors.h"

#include <gmock/gmock.h>

using namespace attune;
using testing::ElementsAre;

TEST(BuildLayer, ArgumentsAreInputsThenParameters) {
  std::string text = specText("queries: 8\nkv_heads: 2\nkey_lengths: true\nprojection: {model_dim: 32, bias: true}\n"
                              "mechanism: {kind: softmax, lepe: {bias: true}}\n");
  Built built(text);
  Spec spec = parseGood(text);
  std::vector<SpecTensor> tensors = inputTensors(spec), parameters = parameterTensors(spec);
  size_t inputs = tensors.size();
  tensors.insert(tensors.end(), parameters.begin(), parameters.end());
  ASSERT_EQ(built.function.getNumArguments(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    mlir::BlockArgument argument = built.function.getArgument(i);
    EXPECT_EQ(Built::sourceOf(argument), tensors[i].name);
    EXPECT_EQ(mlir::cast<mlir::NameLoc>(argument.getLoc()).getName().getValue(), tensors[i].name);
    EXPECT_EQ(built.function.getArgAttr(i, "attn.parameter") != nullptr, i >= inputs) << tensors[i].name;
  }
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(built.function.getResultAttr(0, "attn.name")).getValue(), "y");
}

TEST(BuildLayer, OrderOfAWholeLayer) {
  Built built(specText("queries: 8\nkv_heads: 2\nrope: {}\nqk_norm: {}\nprojection: {model_dim: 32}\n"
                       "mechanism: {kind: softmax, low_rank: {rank: 4}, lepe: {}}\n"));
  EXPECT_EQ(built.ops(), "project project project rope rope qk_norm qk_norm compress compress softmax lepe "
                         "project_output");
  auto softmax = built.only<attn::SoftmaxOp>();
  EXPECT_EQ(Built::sourceOf(softmax.getQuery()), "qk_norm");
  EXPECT_EQ(Built::sourceOf(softmax.getKey()), "compress");
  EXPECT_EQ(Built::sourceOf(built.only<attn::LepeOp>().getValue()), "project"); // not the compressed ones
  EXPECT_EQ(show(softmax.getKey().getType()), "tensor<2x2x4x16xf32>");
}

TEST(BuildLayer, StorageTypes) {
  std::string text = "attention: probe\ndtype: bf16\nbatch: 2\nheads: 4\nhead_dim: 16\nqueries: 8\n";
  Built merged(text + "projection: {model_dim: 32}\nmechanism: {kind: softmax}\n");
  EXPECT_EQ(show(merged.only<attn::SoftmaxOp>().getOutput().getType()), "tensor<2x4x8x16xf32>");
  EXPECT_EQ(show(merged.function.getResultTypes()[0]), "tensor<2x8x32xbf16>");
  Built heads(text + "projection: {model_dim: 32, output: false}\nmechanism: {kind: softmax}\n");
  EXPECT_EQ(show(heads.only<attn::SoftmaxOp>().getOutput().getType()), "tensor<2x4x8x16xbf16>");
  EXPECT_EQ(show(heads.only<attn::SoftmaxOp>().getValue().getType()), "tensor<2x4x8x16xf32>");
  Built turned(text + "rope: {}\nmechanism: {kind: softmax}\n");
  EXPECT_EQ(show(turned.only<attn::SoftmaxOp>().getKey().getType()), "tensor<2x4x8x16xf32>");
  EXPECT_EQ(show(turned.only<attn::SoftmaxOp>().getValue().getType()), "tensor<2x4x8x16xbf16>");
}

TEST(BuildLayer, CrossProjectionReadsTheContext) {
  Built built(specText("queries: 8\nkeys: 5\nprojection: {model_dim: 32, cross: true, output: false, bias: true}\n"
                       "mechanism: {kind: softmax}\n"));
  std::vector<std::string> sources, weights, biases;
  for (attn::ProjectOp op : built.function.getOps<attn::ProjectOp>()) {
    sources.push_back(Built::sourceOf(op.getSource()));
    weights.push_back(Built::sourceOf(op.getWeight()));
    biases.push_back(Built::sourceOf(op.getBias()));
  }
  EXPECT_THAT(sources, ElementsAre("x", "context", "context"));
  EXPECT_THAT(weights, ElementsAre("wq", "wk", "wv"));
  EXPECT_THAT(biases, ElementsAre("bq", "bk", "bv"));
}

TEST(BuildLayer, RopeIsAlignedWhereCausalLengthsMayDiffer) {
  auto alignment = [](const std::string &lines) {
    Built built(specText(lines + "rope: {layout: half}\nmechanism: {kind: softmax}\n"));
    std::vector<std::string> aligned;
    for (attn::RopeOp op : built.function.getOps<attn::RopeOp>())
      aligned.push_back(Built::sourceOf(op.getAligned()));
    return aligned;
  };
  EXPECT_THAT(alignment("queries: 4\nkeys: 9\ncausal: true\n"), ElementsAre("k", ""));
  EXPECT_THAT(alignment("queries: '?'\nkeys: '?'\ncausal: true\n"), ElementsAre("k", ""));
  EXPECT_THAT(alignment("queries: 4\nkeys: 9\n"), ElementsAre("", "")); // both from 0
  EXPECT_THAT(alignment("queries: 9\nkeys: 9\ncausal: true\n"), ElementsAre("", ""));
  EXPECT_THAT(alignment("queries: '?'\ncausal: true\n"), ElementsAre("", ""));
  Built built(specText("queries: 4\nrope: {base: 100, layout: half}\nmechanism: {kind: softmax}\n"));
  EXPECT_TRUE(built.only<attn::RopeOp>().getHalf());
  EXPECT_EQ(built.only<attn::RopeOp>().getBase().convertToDouble(), 100);
}

TEST(BuildLayer, CompressionTakesTheLengthsAway) {
  Built built(specText("queries: 8\nkeys: 12\nkey_lengths: true\n"
                       "mechanism: {kind: softmax, low_rank: {rank: 4, tied: false}}\n"));
  std::vector<std::string> weights;
  for (attn::CompressOp op : built.function.getOps<attn::CompressOp>()) {
    EXPECT_EQ(Built::sourceOf(op.getLengths()), "key_lengths");
    weights.push_back(Built::sourceOf(op.getWeight()));
  }
  EXPECT_THAT(weights, ElementsAre("e", "f"));
  EXPECT_FALSE(built.only<attn::SoftmaxOp>().getLengths()); // every slot exists
}

TEST(BuildLayer, NaiveFlurkaCompressesInsideTheOp) {
  Built built(specText("queries: 8\nkey_lengths: true\nmechanism: {kind: kernel, feature_map: {kind: favor, features: 6}, "
                       "low_rank: {rank: 4, order: after_map}, denominator: none}\n"));
  EXPECT_EQ(built.ops(), "kernel");
  auto op = built.only<attn::KernelOp>();
  EXPECT_EQ(Built::sourceOf(op.getCompressKey()), "e");
  EXPECT_EQ(Built::sourceOf(op.getCompressValue()), "e"); // tied
  EXPECT_EQ(Built::sourceOf(op.getLengths()), "key_lengths");
  EXPECT_EQ(op.getFeatureMap().getStabilizer(), attn::Stabilizer::None); // nothing would undo it
}

TEST(BuildLayer, PartsTakeTheirHeads) {
  Built built(specText("queries: 16\nkv_heads: 2\nkey_lengths: true\nparts:\n"
                       "  - {heads: 2, mechanism: {kind: effatt, lepe: {grid: [2, 8]}}}\n"
                       "  - {heads: 2, mechanism: {kind: softmax, low_rank: {rank: 4, per_head: true}}}\n"));
  EXPECT_EQ(built.ops(), "take_heads take_heads take_heads effatt lepe take_heads take_heads take_heads compress "
                         "compress softmax concat_heads");
  std::vector<std::string> taken;
  for (attn::TakeHeadsOp op : built.function.getOps<attn::TakeHeadsOp>())
    taken.push_back(Built::sourceOf(op.getSource()) + std::to_string(op.getFirst()));
  EXPECT_THAT(taken, ElementsAre("q0", "k0", "v0", "q2", "k1", "v1"));
  EXPECT_EQ(Built::sourceOf(built.only<attn::CompressOp>().getWeight()), "part1.e");
  EXPECT_EQ(show(built.only<attn::CompressOp>().getWeight().getType()), "tensor<1x4x16xf32>");
  EXPECT_EQ(Built::sourceOf(built.only<attn::LepeOp>().getLengths()), "key_lengths");
}

TEST(BuildLayer, LepeInsideAWindowOrOverTheGrid) {
  Built window(specText("queries: 16\nmechanism: {kind: softmax, window: {grid: [4, 4], size: [2, 4]}, lepe: {}}\n"));
  EXPECT_EQ(showAttribute(window.only<attn::LepeOp>().getWindowAttr()), "#attn.window<2x4 of 4x4>");
  EXPECT_FALSE(window.only<attn::LepeOp>().getGrid());
  Built eva(specText("queries: 16\nmechanism: {kind: eva, window: {length: 8}, chunk: 4, lepe: {grid: [4, 4]}}\n"));
  EXPECT_FALSE(eva.only<attn::LepeOp>().getWindowAttr());
  EXPECT_THAT(*eva.only<attn::LepeOp>().getGrid(), ElementsAre(4, 4));
}
