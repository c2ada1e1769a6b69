//===- Operators.cpp - The operators of ONNX that are attention --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Operators.h"

#include "llvm/ADT/STLExtras.h"

using namespace attune::onnx;
using llvm::StringRef;

static constexpr StringRef attentionInputs[] = {
    "Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};
static constexpr StringRef attentionOutputs[] = {"Y", "present_key", "present_value", "qk_matmul_output"};
static constexpr AttributeDefinition attentionAttributes[] = {
    {"is_causal", Attribute::Integer},
    {"kv_num_heads", Attribute::Integer},
    {"left_window_size", Attribute::Integer},
    {"q_num_heads", Attribute::Integer},
    {"qk_matmul_output_mode", Attribute::Integer},
    {"right_window_size", Attribute::Integer},
    {"scale", Attribute::Number},
    {"softcap", Attribute::Number},
    {"softmax_precision", Attribute::Integer},
};

static constexpr StringRef linearInputs[] = {"query", "key", "value", "past_state", "decay", "beta"};
static constexpr StringRef linearOutputs[] = {"output", "present_state"};
static constexpr AttributeDefinition linearAttributes[] = {
    {"chunk_size", Attribute::Integer}, {"kv_num_heads", Attribute::Integer}, {"q_num_heads", Attribute::Integer},
    {"scale", Attribute::Number},       {"update_rule", Attribute::Text},
};

llvm::ArrayRef<OperatorDefinition> attune::onnx::operatorDefinitions() {
  static const OperatorDefinition definitions[] = {
      {"Attention", 23, attentionInputs, attentionOutputs, attentionAttributes},
      {"LinearAttention", 27, linearInputs, linearOutputs, linearAttributes},
  };
  return definitions;
}

const OperatorDefinition *attune::onnx::definitionOf(const Node &node) {
  if (!node.domain.empty() && node.domain != "ai.onnx")
    return nullptr;
  const auto *found = llvm::find_if(operatorDefinitions(), [&](const auto &known) { return known.name == node.op; });
  return found == operatorDefinitions().end() ? nullptr : found;
}
