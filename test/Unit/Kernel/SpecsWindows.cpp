//===- SpecsWindows.cpp - Windows and the convolution of the values -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecRun.h"

using namespace attune::test;

/// The mechanisms that windows go with; a closing brace is missing.
static const std::string softmax = "mechanism: {kind: softmax",
                         elu1 = "mechanism: {kind: kernel, feature_map: {kind: elu1}",
                         polynomial = "mechanism: {kind: polynomial, degree: 4, denominator: {bias: 0.1}";
static const std::string heads = "heads: 2, head_dim: 3, value_dim: 5, ";

TEST_F(Specs, WindowsOfASequence) {
  for (const std::string &mechanism : {softmax, elu1, polynomial})
    for (int length : {1, 7, 49, 64, 96}) {
      std::string window = ", window: {length: " + std::to_string(length) + "}}";
      check({heads + mechanism + window, square({length, 2 * length})});
      check({heads + "key_lengths: true, causal: true, " + mechanism + window, square({3 * length})});
    }
  check(
      {"heads: 4, kv_heads: 2, head_dim: 40, key_lengths: true, " + softmax + ", window: {length: 7}}", square({21})});
}

TEST_F(Specs, WindowsOfAnImage) {
  for (const std::string &mechanism : {softmax, elu1, polynomial}) {
    check({heads + mechanism + ", window: {grid: [14, 14], size: [7, 7]}}", square({196})});
    check({heads + "causal: true, " + mechanism + ", window: {grid: [9, 10], size: [3, 5]}}", square({90})});
    check({heads + "key_lengths: true, " + mechanism + ", window: {grid: [9, 10], size: [3, 5]}}", square({90})});
    check({heads + "key_lengths: true, " + mechanism + ", window: {grid: [6, 11], size: [6, 11]}}", square({66})});
    check({heads + mechanism + ", window: {grid: [4, 3], size: [1, 1]}}", square({12})});
    check({heads + mechanism + ", window: {grid: [4, 3], size: [4, 1]}}", square({12})});
    check({heads + mechanism + ", window: {grid: [4, 3], size: [1, 3]}}", square({12})});
  }
}

TEST_F(Specs, LepeOfASequence) {
  for (const std::string &mechanism : {softmax, elu1, polynomial}) {
    check({heads + mechanism + ", lepe: {}}", square({1, 2, 63, 64, 65, 130})});
    check({"heads: 4, kv_heads: 2, head_dim: 3, key_lengths: true, " + mechanism + ", lepe: {bias: true}}",
           square({1, 2, 65})});
  }
}

TEST_F(Specs, LepeOfAnImage) {
  for (const std::string &mechanism : {softmax, elu1}) {
    check({heads + mechanism + ", lepe: {grid: [9, 10]}}", square({90})});
    check({heads + mechanism + ", lepe: {grid: [1, 5]}}", square({5})});
    check({heads + mechanism + ", lepe: {grid: [5, 1]}}", square({5})});
    check(
        {"heads: 4, kv_heads: 1, head_dim: 3, key_lengths: true, " + mechanism + ", lepe: {grid: [7, 11], bias: true}}",
         square({77})});
  }
}

TEST_F(Specs, LepeInsideWindows) {
  for (const std::string &mechanism : {softmax, elu1}) {
    check({heads + mechanism + ", window: {length: 7}, lepe: {}}", square({21})});
    check({heads + "key_lengths: true, " + mechanism + ", window: {length: 49}, lepe: {bias: true}}", square({98})});
    check({heads + mechanism + ", window: {length: 1}, lepe: {}}", square({5})});
    check({heads + mechanism + ", window: {grid: [14, 14], size: [7, 7]}, lepe: {bias: true}}", square({196})});
    check({"heads: 4, kv_heads: 2, head_dim: 3, key_lengths: true, " + mechanism +
               ", window: {grid: [9, 10], size: [3, 5]}, lepe: {bias: true}}",
           square({90})});
  }
}
