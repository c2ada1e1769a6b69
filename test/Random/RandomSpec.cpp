//===- RandomSpec.cpp - Specs that are correct and supported -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomSpec.h"

#include "Choices.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace attune::random;

/// A decimal that reads back as the same number.
static std::string decimal(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17e", value);
  return text;
}

static void drawSizes(Choices &choices, const SpecLimits &limits, RandomSpec &spec) {
  spec.batch = choices.between(1, limits.batch);
  spec.sharedHeads = choices.between(1, limits.sharedHeads);
  spec.heads = spec.sharedHeads * choices.between(1, limits.groups);
  spec.width = choices.size(limits.width);
  spec.valueWidth = choices.once(2) ? spec.width : choices.size(limits.width);
  spec.queries = choices.size(limits.tokens);
  bool mustBeEqual = spec.causal && !spec.isSoftmax;
  spec.keysFollowQueries = choices.once(3);
  spec.keys = mustBeEqual || spec.keysFollowQueries ? spec.queries : choices.size(limits.tokens);
  spec.dynamicBatch = choices.once(3);
  spec.dynamicQueries = choices.once(3);
  // Keys that are not written follow the queries, '?' as well.
  spec.dynamicKeys = spec.keysFollowQueries ? spec.dynamicQueries : choices.once(3);
}

static void drawMechanism(Choices &choices, RandomSpec &spec) {
  if (spec.isSoftmax) {
    if (choices.once(3))
      spec.scale = choices.pick({0.01, 0.3, 1.0, 1.0 / 3});
    if (!spec.dynamicQueries && choices.once(2))
      spec.pin = choices.pick({"in_order", "split"});
    return;
  }
  if (choices.once(2)) {
    spec.bias = choices.pick({0.0, 1e-6, 1.0});
    spec.floor = choices.pick({0.0, 1e-6, 50.0});
  }
  if (choices.once(2))
    spec.pin = spec.causal ? choices.pick({"quadratic", "chunked"})
                           : choices.pick({"quadratic", "state", "fused_state", "merged_state"});
}

RandomSpec attune::random::drawSpec(uint64_t seed, const SpecLimits &limits) {
  Choices choices(seed, "spec");
  RandomSpec spec;
  spec.name = "random_" + std::to_string(seed);
  spec.isSoftmax = choices.once(2);
  spec.causal = choices.once(2);
  spec.keyLengths = choices.once(2);
  spec.dtype = choices.pick({"f32", "f16", "bf16"});
  drawSizes(choices, limits, spec);
  drawMechanism(choices, spec);
  return spec;
}

double RandomSpec::logitScale() const { return scale.value_or(1 / std::sqrt(static_cast<double>(width))); }

std::string RandomSpec::yaml() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto size = [](int64_t value, bool dynamic) { return dynamic ? std::string("'?'") : std::to_string(value); };
  os << "attention: " << name << "\ndtype: " << dtype << "\nbatch: " << size(batch, dynamicBatch)
     << "\nqueries: " << size(queries, dynamicQueries) << "\n";
  if (!keysFollowQueries)
    os << "keys: " << size(keys, dynamicKeys) << "\n";
  os << "heads: " << heads << "\nkv_heads: " << sharedHeads << "\nhead_dim: " << width << "\nvalue_dim: " << valueWidth
     << "\ncausal: " << (causal ? "true" : "false") << "\nkey_lengths: " << (keyLengths ? "true" : "false") << "\n";
  if (scale)
    os << "scale: " << decimal(*scale) << "\n";
  if (!pin.empty())
    os << "pin: {" << pinnedLaw() << ": " << pin << "}\n";
  if (isSoftmax) {
    os << "mechanism: {kind: softmax}\n";
    return text;
  }
  os << "mechanism:\n  kind: kernel\n  feature_map: {kind: elu1}\n";
  if (bias)
    os << "  denominator: {bias: " << decimal(*bias) << ", floor: " << decimal(*floor) << "}\n";
  return text;
}

std::string RandomSpec::module() const {
  auto size = [](int64_t value, bool dynamic) { return dynamic ? std::string("?") : std::to_string(value); };
  std::string b = size(batch, dynamicBatch), n = size(queries, dynamicQueries), N = size(keys, dynamicKeys);
  auto tensor = [&](int64_t ofHeads, const std::string &tokens, int64_t columns) {
    return "tensor<" + b + "x" + std::to_string(ofHeads) + "x" + tokens + "x" + std::to_string(columns) + "x" + dtype +
           ">";
  };
  std::string q = tensor(heads, n, width), k = tensor(sharedHeads, N, width), v = tensor(sharedHeads, N, valueWidth);
  std::string o = tensor(heads, n, valueWidth), lengthsType = "tensor<" + b + "xi32>", text;
  llvm::raw_string_ostream os(text);
  os << "func.func @spec(%q: " << q << ", %k: " << k << ", %v: " << v;
  if (keyLengths)
    os << ", %lengths: " << lengthsType;
  os << ") -> " << o << " {\n  %o = attn." << (isSoftmax ? "softmax" : "kernel") << " %q, %k, %v";
  if (keyLengths)
    os << " lengths(%lengths : " << lengthsType << ")";
  os << " {" << (causal ? "causal, " : "");
  if (isSoftmax)
    os << "scale = " << decimal(logitScale()) << " : f64";
  else
    os << "denominator = #attn.denominator<bias = " << decimal(bias.value_or(0)) << ", floor = "
       << decimal(floor.value_or(0)) << ">, feature_map = #attn.feature_map<elu1>";
  os << "}\n      : " << q << ", " << k << ", " << v << " -> " << o << "\n  return %o : " << o << "\n}\n";
  return text;
}
