//===- ReadAttention.cpp - Attention, opset 23 on ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NodeReader.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune::onnx;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

namespace {
struct Heads {
  int64_t queries = 1, keys = 1, headDim = 1, valueDim = 1;
};
} // namespace

/// Of tensors with a dimension for heads.
static Heads headsApart(NodeReader &node) {
  Heads heads{node.size("Q", 1), node.size("K", 1), node.size("Q", 3), node.size("V", 3)};
  if (int64_t values = node.size("V", 1); values != heads.keys)
    node.refuse("input 'V'", "as many heads as input 'K' has (" + Twine(heads.keys) + ")", Twine(values));
  return heads;
}

/// Of tensors whose heads lie in one dimension.
static Heads headsTogether(NodeReader &node) {
  int64_t queries = node.integer("q_num_heads", 0), keys = node.integer("kv_num_heads", 0);
  if (std::min(queries, keys) < 1 || std::max(queries, keys) > INT32_MAX) {
    auto shown = [](int64_t count) { return count ? std::to_string(count) : "none"; };
    node.refuse("attributes 'q_num_heads', 'kv_num_heads'", "numbers of heads of tensors with three dimensions",
                shown(queries) + " and " + shown(keys));
    return {};
  }
  return {queries, keys, node.widthOf("Q", queries, "q_num_heads"), node.widthOf("V", keys, "kv_num_heads")};
}

static void checkOptional(NodeReader &node) {
  if (node.has("attn_mask"))
    node.refuse("input 'attn_mask'", "none", "one; lengths (nonpad_kv_seqlen), is_causal and windows can be compiled");
  if (node.gives("qk_matmul_output"))
    node.refuse("output 'qk_matmul_output'", "none", "one; what stands between the products is never in memory");
  if (node.has("past_key") != node.has("past_value"))
    node.refuse("inputs 'past_key', 'past_value'", "both or none", "one of them");
  if (node.has("nonpad_kv_seqlen") && node.has("past_key"))
    node.refuse("input 'nonpad_kv_seqlen'", "none with past_key", "one");
}

static void addTensors(NodeSpec &spec, bool hasCache) {
  spec.tensors = {{"q", "Q"},
                  {"k", hasCache ? "past_key and K behind it" : "K"},
                  {"v", hasCache ? "past_value and V behind it" : "V"}};
  if (llvm::any_of(spec.inputs, [](const NodeTensor &tensor) { return tensor.formal == "nonpad_kv_seqlen"; }))
    spec.tensors.push_back({"key_lengths", "nonpad_kv_seqlen"});
  spec.tensors.push_back({"o", "Y"});
}

/// What a query sees.
static bool readMask(NodeReader &node, json::Object &mechanism) {
  int64_t left = node.integer("left_window_size", -1), right = node.integer("right_window_size", -1);
  bool causal = node.integer("is_causal", 0) != 0 || right == 0;
  if (causal && node.has("nonpad_kv_seqlen"))
    node.refuse("input 'nonpad_kv_seqlen'", "none with is_causal",
                "one; the last query of each entry would stand at another key");
  if (!causal && (left >= 0 || right > 0))
    node.refuse("attributes 'left_window_size', 'right_window_size'",
                "a window that ends at the query's own key (right_window_size 0, or is_causal)",
                Twine(left) + " and " + Twine(right));
  if (left >= INT32_MAX)
    node.refuse("attribute 'left_window_size'", "a number below 2147483647", Twine(left));
  else if (left >= 0)
    mechanism["window"] = json::Object{{"last", left + 1}};
  return causal;
}

void attune::onnx::readAttention(NodeReader &node, NodeSpec &spec) {
  checkOptional(node);
  StringRef dtype = node.dtype({"Q", "K", "V"});
  Heads heads = node.rank("Q") == 4 ? headsApart(node) : headsTogether(node);
  json::Object mechanism{{"kind", "softmax"}};
  bool causal = readMask(node, mechanism);
  if (double cap = node.number("softcap", 0); cap != 0)
    mechanism["softcap"] = cap;
  double scale = node.number("scale", 1);
  if (scale == 0)
    node.refuse("attribute 'scale'", "a number other than 0", "0; leave it out for the default, the root of 1 / width");
  spec.fields = {{"dtype", dtype},
                 {"batch", "?"},
                 {"queries", "?"},
                 {"keys", "?"},
                 {"heads", heads.queries},
                 {"kv_heads", heads.keys},
                 {"head_dim", heads.headDim},
                 {"value_dim", heads.valueDim},
                 {"causal", causal}};
  if (node.isGiven("scale"))
    spec.fields.emplace_back("scale", scale);
  if (node.has("nonpad_kv_seqlen"))
    spec.fields.emplace_back("key_lengths", true);
  spec.fields.emplace_back("mechanism", std::move(mechanism));
  addTensors(spec, node.has("past_key"));
}
