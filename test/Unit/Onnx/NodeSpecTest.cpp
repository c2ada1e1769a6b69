//===- NodeSpecTest.cpp - Specs of nodes ----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OnnxBytes.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Onnx/NodeSpec.h"

#include <gmock/gmock.h>

#include <limits>

using namespace attune;
using namespace attune::test;
using testing::HasSubstr;

namespace {

std::string heads(int64_t queries = 4, int64_t keys = 2) {
  return integer("q_num_heads", queries) + integer("kv_num_heads", keys);
}

/// With a gate of each kind, and states.
const std::string linearTensors = tensor("q", {0, 0, 128}) + tensor("k", {0, 0, 64}) + tensor("v", {0, 0, 80}) +
                                  tensor("g", {0, 0, 2}) + tensor("channels", {0, 0, 64}) + tensor("b", {0, 0, 2}) +
                                  tensor("past", {0, 2, 32, 40});
const std::string apart = tensor("q", {0, 8, 0, 64}) + tensor("k", {0, 2, 0, 64}) + tensor("v", {0, 2, 0, 48});

std::string linear(const std::vector<std::string> &inputs, const std::string &attributes,
                   const std::vector<std::string> &outputs = {"o"}, int64_t opset = 27) {
  return model(node("LinearAttention", "layer.0/mixer", inputs, outputs, attributes) + linearTensors, opset);
}

std::string exact(const std::string &tensors, const std::string &attributes,
                  const std::vector<std::string> &inputs = {"q", "k", "v"}) {
  return model(node("Attention", "/layer.0/Attention", inputs, {"y"}, attributes) + tensors);
}

/// The spec's text, which must be a correct spec.
std::string yaml(const std::string &bytes, llvm::StringRef name = "") {
  llvm::Expected<onnx::NodeSpec> read = onnx::readNode(bytes, name, "m.onnx");
  if (!read)
    return llvm::toString(read.takeError());
  Spec spec;
  Diagnostics diagnostics;
  SourceFile file("m.onnx", read->yaml());
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Good) << read->yaml();
  print(diagnostics, file, llvm::errs());
  return read->yaml();
}

} // namespace

TEST(OnnxNodeSpec, LinearAttentionOfEachRule) {
  EXPECT_EQ(yaml(linear({"q", "k", "v"}, heads() + text("update_rule", "linear"))),
            "# node 'layer.0/mixer' (LinearAttention): q = query, k = key, v = value, o = output\n"
            "attention: layer_0_mixer\ndtype: f32\nbatch: \"?\"\nqueries: \"?\"\nheads: 4\nkv_heads: 2\nhead_dim: "
            "32\nvalue_dim: 40\n"
            "causal: true\nmechanism: {kind: kernel, feature_map: {kind: identity}}\n");
  EXPECT_THAT(yaml(linear({"q", "k", "v", "", "g"}, heads() + text("update_rule", "gated"))),
              HasSubstr("decay: {per: token}, "));
  EXPECT_THAT(yaml(linear({"q", "k", "v", "", "channels"}, heads() + text("update_rule", "gated"))),
              HasSubstr("decay: {per: channel}, "));
  EXPECT_THAT(yaml(linear({"q", "k", "v", "", "", "b"}, heads() + text("update_rule", "delta"))),
              HasSubstr("erase: {per: token}, "));
  EXPECT_THAT(yaml(linear({"q", "k", "v", "past", "g", "b"}, heads(), {"o", "s"})), // gated_delta is the default
              testing::AllOf(
                  HasSubstr("g = decay, beta = beta, state.s = past_state, o = output, final_state.s = present_state"),
                  HasSubstr("state: {final: true, initial: true}\nmechanism: {kind: kernel, decay: {per: token}, "
                            "erase: {per: token}, feature_map: {kind: identity}}")));
}

TEST(OnnxNodeSpec, ScalesAndTypes) {
  EXPECT_THAT(yaml(linear({"q", "k", "v"}, heads() + text("update_rule", "linear") + real("scale", 0.5))),
              HasSubstr("scale: 0.5\n"));
  EXPECT_THAT(yaml(linear({"q", "k", "v"}, heads() + text("update_rule", "linear") + real("scale", 1e-5F))),
              HasSubstr("scale: 9.99"));
  EXPECT_THAT(yaml(linear({"q", "k", "v"}, heads() + text("update_rule", "linear") + real("scale", 0))),
              testing::Not(HasSubstr("scale")));
  for (auto [element, name] : {std::pair(10, "f16"), std::pair(16, "bf16")})
    EXPECT_THAT(yaml(model(node("Attention", "a", {"q", "k", "v"}, {"y"}) + tensor("q", {0, 2, 0, 8}, element) +
                           tensor("k", {0, 2, 0, 8}, element) + tensor("v", {0, 2, 0, 8}, element))),
                HasSubstr(std::string("attention: node_a\ndtype: ") + name));
}

TEST(OnnxNodeSpec, AttentionWithHeadsApartAndTogether) {
  auto expected = [](const std::string &sizes, const std::string &rest) {
    return "# node '/layer.0/Attention' (Attention): q = Q, k = K, v = V, o = Y\nattention: layer_0_Attention\ndtype: "
           "f32\nbatch: \"?\"\n"
           "queries: \"?\"\nkeys: \"?\"\n" +
           sizes + rest;
  };
  EXPECT_EQ(yaml(exact(apart, "")), expected("heads: 8\nkv_heads: 2\nhead_dim: 64\nvalue_dim: 48\n",
                                             "causal: false\nmechanism: {kind: softmax}\n"));
  EXPECT_EQ(yaml(exact(linearTensors, heads() + real("scale", 0.25))),
            expected("heads: 4\nkv_heads: 2\nhead_dim: 32\nvalue_dim: 40\n",
                     "causal: false\nscale: 0.25\nmechanism: {kind: softmax}\n"));
}

TEST(OnnxNodeSpec, WhatAQuerySees) {
  EXPECT_THAT(yaml(exact(apart, integer("is_causal", 1) + real("softcap", 2))),
              HasSubstr("causal: true\nmechanism: {kind: softmax, softcap: 2}\n"));
  for (const std::string &right : {integer("is_causal", 1), integer("right_window_size", 0)})
    EXPECT_THAT(yaml(exact(apart, integer("left_window_size", 4) + right)),
                HasSubstr("causal: true\nmechanism: {kind: softmax, window: {last: 5}}\n"));
  EXPECT_THAT(
      yaml(exact(apart, "", {"q", "k", "v", "", "", "", "n"})),
      testing::AllOf(HasSubstr("key_lengths: true\n"), HasSubstr("v = V, key_lengths = nonpad_kv_seqlen, o = Y")));
  EXPECT_THAT(yaml(exact(apart, integer("is_causal", 1), {"q", "k", "v", "", "pk", "pv"})),
              HasSubstr("q = Q, k = past_key and K behind it, v = past_value and V behind it, o = Y"));
}

TEST(OnnxNodeSpec, NamesANodeByItsOutput) {
  std::string two = model(node("Attention", "", {"q", "k", "v"}, {"y"}) + node("Relu", "r", {"y"}, {"z"}) +
                          node("Attention", "second", {"q", "k", "v"}, {"w"}) + apart);
  EXPECT_THAT(yaml(two, "y"), HasSubstr("# node 'y'"));
  EXPECT_THAT(yaml(two, "second"), HasSubstr("heads: 8\nkv_heads: 2\nhead_dim: 64\nvalue_dim: 48\n"));
  EXPECT_EQ(yaml(two), "m.onnx: error: expected a node's name, for there is more than one, but got none; those of the "
                       "model: 'y', 'second'");
  EXPECT_EQ(
      yaml(two, "r"),
      "m.onnx: error: expected a node of Attention or LinearAttention, but got 'r'; those of the model: 'y', 'second'");
}

TEST(OnnxNodeSpec, ConstantsAndOtherDomains) {
  std::string constant =
      bytes(5, number(1, 1) + number(1, 2) + bytes(1, varint(7) + varint(8)) + number(2, 1) + bytes(8, "k"));
  EXPECT_THAT(yaml(model(node("Attention", "a1", {"q", "k", "v"}, {"y"}) + tensor("q", {0, 2, 0, 8}) +
                         tensor("v", {0, 2, 0, 8}) + constant)),
              HasSubstr("kv_heads: 2")); // [1, 2, 7, 8], some of it packed
  EXPECT_THAT(yaml(model(node("Attention", "a", {"q", "k", "v"}, {"y"}, "", "com.microsoft") + apart)),
              HasSubstr("but got none; those of the model: none"));
}

TEST(OnnxNodeSpec, SaysWhatIsWrong) {
  auto wrong = [](const std::string &model, const std::string &part) { EXPECT_THAT(yaml(model), HasSubstr(part)); };
  std::string at = "m.onnx: error: node 'layer.0/mixer' (LinearAttention): ";
  std::vector<std::string> qkv = {"q", "k", "v"};
  wrong(linear(qkv, heads(), {"o"}, 26), at + "opset: expected a model of opset 27 or later, but got 26; convert");
  wrong(linear({"q", "k"}, heads()), at + "input 'value': expected a tensor, but got none");
  wrong(linear({"q", "k", "v", "", "", "", "g"}, heads()), at + "inputs: expected at most 6, but got 7");
  wrong(linear(qkv, heads(), {"o", "s", "t"}), at + "outputs: expected at most 2, but got 3");
  wrong(linear(qkv, heads() + integer("chunks", 3)),
        at + "attribute 'chunks': expected one of chunk_size, kv_num_heads, q_num_heads, "
             "scale, update_rule, but got another");
  wrong(linear(qkv, heads() + integer("scale", 3)),
        at + "attribute 'scale': expected a number (FLOAT), but got an attribute of type 2");
  wrong(linear(qkv, heads() + text("update_rule", "other")),
        at + "attribute 'update_rule': expected one of linear, gated, delta, "
             "gated_delta, but got 'other'");
  wrong(linear(qkv, heads()), at + "input 'decay': expected one of the rule 'gated_delta', but got none");
  wrong(linear({"q", "k", "v", "", "g"}, heads() + text("update_rule", "linear")),
        "'decay': expected none of the rule 'linear', but got one");
  std::string plain = text("update_rule", "linear");
  wrong(linear(qkv, plain), "'kv_num_heads': expected numbers of heads, but got 0 and 0");
  wrong(linear(qkv, heads(INT64_MAX, 2) + plain), "expected numbers of heads, but got 9223372036854775807 and 2");
  wrong(linear(qkv, heads(3, 1) + plain),
        "input 'query': expected a last size that is a multiple of q_num_heads (3), but got 128");
  wrong(linear({"q", "k", "v", "", "b80"}, heads() + text("update_rule", "gated")),
        "input 'decay': expected a size that the model states "
        "in dimension -1, but got none; give");
  wrong(linear({"q", "k", "v", "", "v"}, heads() + text("update_rule", "gated")),
        "input 'decay': expected a last size of 2 (a number a head) "
        "or 64 (a channel), but got 80");
  wrong(linear(qkv, heads() + plain + real("scale", std::numeric_limits<float>::quiet_NaN())),
        "'scale': expected a finite number, but got not a number");
}

TEST(OnnxNodeSpec, SaysWhatOfAttentionIsWrong) {
  auto wrong = [](const std::string &model, const std::string &part) {
    EXPECT_THAT(yaml(model), HasSubstr("Attention): " + part));
  };
  std::vector<std::string> qkv = {"q", "k", "v"};
  auto of = [&](const std::string &attributes, const std::vector<std::string> &inputs = {"q", "k", "v"},
                const std::vector<std::string> &outputs = {"y"}) {
    return model(node("Attention", "a", inputs, outputs, attributes) + apart);
  };
  wrong(of("", {"q", "k", "v", "m"}), "input 'attn_mask': expected none, but got one; lengths");
  wrong(of("", qkv, {"y", "", "", "s"}), "output 'qk_matmul_output': expected none, but got one; what stands");
  wrong(of("", {"q", "k", "v", "", "pk"}), "inputs 'past_key', 'past_value': expected both or none, but got one");
  wrong(of("", {"q", "k", "v", "", "pk", "pv", "n"}),
        "input 'nonpad_kv_seqlen': expected none with past_key, but got one");
  wrong(of(integer("is_causal", 1), {"q", "k", "v", "", "", "", "n"}),
        "input 'nonpad_kv_seqlen': expected none with is_causal");
  wrong(of(integer("left_window_size", 4)),
        "attributes 'left_window_size', 'right_window_size': expected a window that ends");
  wrong(of(integer("is_causal", 1) + integer("left_window_size", INT64_MAX)),
        "attribute 'left_window_size': expected a number below");
  wrong(of(real("scale", 0)), "attribute 'scale': expected a number other than 0, but got 0; leave it out");
  wrong(of("", {"q", "k", "q"}), "input 'V': expected as many heads as input 'K' has (2), but got 8");
  wrong(model(node("Attention", "a", qkv, {"y"}) + linearTensors),
        "attributes 'q_num_heads', 'kv_num_heads': expected numbers of heads of "
        "tensors with three dimensions, but got none and none");
  wrong(model(node("Attention", "a", qkv, {"y"}) + tensor("q", {0, 2, 0, 8}) + tensor("k", {0, 2, 0, 8}, 10) +
              tensor("v", {0, 2, 0, 8})),
        "input 'K': expected f32, as input 'Q' has, but got f16");
  wrong(model(node("Attention", "a", qkv, {"y"}) + tensor("q", {0, 2, 0, 8}, 11)),
        "input 'Q': expected a tensor of float, float16 or bfloat16, "
        "but got an element type of number 11");
  wrong(model(node("Attention", "a", qkv, {"y"})),
        "input 'Q': expected a tensor of float, float16 or bfloat16, but got an unknown type; give");
}

TEST(OnnxNodeSpec, PathsOfNodes) {
  EXPECT_FALSE(onnx::nodePathOf("a.yaml"));
  EXPECT_FALSE(onnx::nodePathOf("onnx"));
  EXPECT_EQ(onnx::nodePathOf("d/a.onnx")->file, "d/a.onnx");
  EXPECT_EQ(onnx::nodePathOf("d/a.onnx:x/y:0")->file, "d/a.onnx");
  EXPECT_EQ(onnx::nodePathOf("d/a.onnx:x/y:0")->node, "x/y:0");
}
