//===- ReadLinearAttention.cpp - LinearAttention, opset 27 on ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NodeReader.h"

#include "attune/Support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune;
using namespace attune::onnx;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

namespace {
struct Rule {
  StringRef name;
  bool decays, erases; // whether the rule has `decay`, and `beta`
};
} // namespace

static constexpr Rule rules[] = {
    {"linear", false, false}, {"gated", true, false}, {"delta", false, true}, {"gated_delta", true, true}};

static void checkRule(NodeReader &node) {
  StringRef name = node.text("update_rule", "gated_delta");
  const Rule *rule = llvm::find_if(rules, [&](const Rule &each) { return each.name == name; });
  if (rule == std::end(rules))
    return node.refuse("attribute 'update_rule'", "one of linear, gated, delta, gated_delta", quoted(name));
  for (auto [input, wanted] : {std::pair(StringRef("decay"), rule->decays), std::pair(StringRef("beta"), rule->erases)})
    if (node.has(input) != wanted)
      node.refuse("input '" + input + "'", (wanted ? "one of the rule '" : "none of the rule '") + rule->name + "'",
                  wanted ? "none" : "one");
}

/// `linear` has neither gate.
static json::Object readGates(NodeReader &node, int64_t kvHeads, int64_t headDim) {
  json::Object mechanism{{"kind", "kernel"}, {"feature_map", json::Object{{"kind", "identity"}}}};
  if (node.has("decay")) {
    int64_t width = node.size("decay", -1);
    if (width != kvHeads && width != kvHeads * headDim)
      node.refuse("input 'decay'",
                  "a last size of " + Twine(kvHeads) + " (a number a head) or " + Twine(kvHeads * headDim) +
                      " (a channel)",
                  Twine(width));
    mechanism["decay"] = json::Object{{"per", width == kvHeads ? "token" : "channel"}};
  }
  if (node.has("beta"))
    mechanism["erase"] = json::Object{{"per", "token"}};
  return mechanism;
}

static void addTensors(NodeReader &node, NodeSpec &spec) {
  spec.tensors = {{"q", "query"}, {"k", "key"}, {"v", "value"}};
  for (auto [own, input] : {std::pair("g", "decay"), std::pair("beta", "beta"), std::pair("state.s", "past_state")})
    if (node.has(input))
      spec.tensors.push_back({own, input});
  spec.tensors.push_back({"o", "output"});
  if (node.gives("present_state"))
    spec.tensors.push_back({"final_state.s", "present_state"});
}

void attune::onnx::readLinearAttention(NodeReader &node, NodeSpec &spec) {
  checkRule(node);
  int64_t heads = node.integer("q_num_heads", 0), kvHeads = node.integer("kv_num_heads", 0);
  if (std::min(heads, kvHeads) < 1 || std::max(heads, kvHeads) > INT32_MAX)
    return node.refuse("attributes 'q_num_heads', 'kv_num_heads'", "numbers of heads",
                       Twine(heads) + " and " + Twine(kvHeads));
  StringRef dtype = node.dtype({"query", "key", "value"});
  int64_t headDim = node.widthOf("query", heads, "q_num_heads");
  json::Object mechanism = readGates(node, kvHeads, headDim);
  spec.fields = {{"dtype", dtype},
                 {"batch", "?"},
                 {"queries", "?"},
                 {"heads", heads},
                 {"kv_heads", kvHeads},
                 {"head_dim", headDim},
                 {"value_dim", node.widthOf("value", kvHeads, "kv_num_heads")},
                 {"causal", true}};
  if (double scale = node.number("scale", 0); scale != 0) // 0: the default, as the spec has it
    spec.fields.emplace_back("scale", scale);
  if (bool initial = node.has("past_state"), final = node.gives("present_state"); initial || final)
    spec.fields.emplace_back("state", json::Object{{"initial", initial}, {"final", final}});
  spec.fields.emplace_back("mechanism", std::move(mechanism));
  addTensors(node, spec);
}
