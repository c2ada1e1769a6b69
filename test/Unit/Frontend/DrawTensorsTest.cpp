//===- DrawTensorsTest.cpp - The distributions of drawn parameters -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecText.h"

#include "attune/Frontend/SpecTensors.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace attune;

namespace {

/// Every tensor of a spec, drawn.
std::map<std::string, HostTensor> drawAll(const Spec &spec, uint64_t seed = 1) {
  std::map<std::string, HostTensor> result;
  for (const std::vector<SpecTensor> &tensors : {inputTensors(spec), parameterTensors(spec)})
    for (const SpecTensor &tensor : tensors)
      result[tensor.name] = drawTensor(tensor, seed);
  return result;
}

double moment(const HostTensor &tensor, int power) {
  double sum = 0;
  for (double value : toDoubles(tensor))
    sum += std::pow(value, power);
  return sum / static_cast<double>(tensor.count());
}

/// Mean 0 and the variance, each within five standard deviations of its estimate.
void expectNormal(const HostTensor &tensor, double variance, const char *name) {
  double root = std::sqrt(static_cast<double>(tensor.count()));
  EXPECT_NEAR(moment(tensor, 1), 0, 5 * std::sqrt(variance) / root) << name;
  EXPECT_NEAR(moment(tensor, 2), variance, 5 * std::sqrt(2.0) * variance / root) << name;
}

Spec layer(const std::string &extra = "") {
  return parseGood("attention: layer\ndtype: bf16\nbatch: 4\nqueries: 64\nheads: 4\nkv_heads: 2\nhead_dim: 32\n"
                   "projection: {model_dim: 48, bias: true}\n" +
                   extra +
                   "mechanism: {kind: softmax, low_rank: {rank: 16, tied: false, per_head: true}, "
                   "lepe: {grid: [8, 8], bias: true}}\n");
}

Spec sketch(const char *size) {
  return parseGood(specText("queries: 32\nmechanism: {kind: polysketch, degree: 4, size: " + std::string(size) + "}\n"));
}

} // namespace

TEST(DrawTensors, VariancesOfALayer) {
  std::map<std::string, HostTensor> drawn = drawAll(layer());
  expectNormal(drawn["x"], 1, "x");
  for (const char *name : {"wq", "wk", "wv"})
    expectNormal(drawn[name], 1.0 / 48, name);
  expectNormal(drawn["wo"], 1.0 / 128, "wo");
  for (const char *name : {"e", "f"})
    expectNormal(drawn[name], 1.0 / 16, name);
  expectNormal(drawn["lepe.weight"], 1.0 / 9, "lepe.weight");
  for (const char *name : {"bq", "bk", "bv", "bo", "lepe.bias"})
    expectNormal(drawn[name], 0.01, name);
  EXPECT_NE(drawn["e"].bytes, drawn["f"].bytes);
}

TEST(DrawTensors, OrthogonalBlocksInStoredPrecision) {
  Spec spec = parseGood(specText("queries: 32\nmechanism: {kind: kernel, feature_map: "
                                 "{kind: favor, features: 40, per_head: true}}\n"));
  HostTensor omega = drawAll(spec)["omega"];
  EXPECT_THAT(omega.shape, testing::ElementsAre(4, 40, 16));
  std::vector<double> w = toDoubles(omega);
  auto dot = [&](int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t i = 0; i < 16; ++i)
      sum += w[a * 16 + i] * w[b * 16 + i];
    return sum;
  };
  for (int64_t row = 0; row < 4 * 40; ++row)
    for (int64_t other = row - row % 40 % 16; other < row; ++other)
      EXPECT_NEAR(dot(row, other) / std::sqrt(dot(row, row) * dot(other, other)), 0, 1e-6);
  // The mean of 160 values of variance 2d.
  EXPECT_NEAR(moment(omega, 2) * 16, 16, 5 * std::sqrt(2 * 16 / 160.0));
}

TEST(DrawTensors, SignsAndIndicesOfASketch) {
  std::map<std::string, HostTensor> drawn = drawAll(sketch("512"));
  HostTensor signs = drawn["sketch.node0.sign_a"], leaf = drawn["sketch.leaf1.index"],
             node = drawn["sketch.node0.index_b"];
  EXPECT_EQ(moment(signs, 2), 1);
  EXPECT_NEAR(moment(signs, 1), 0, 5 / std::sqrt(4 * 512.0));
  // Uniform in 0 … bound - 1: mean (bound - 1)/2, variance (bound² - 1)/12; with 2048 draws of 16 every value occurs.
  for (auto [indices, bound] : {std::pair<HostTensor, int>{leaf, 16}, {node, 512}}) {
    llvm::ArrayRef<int32_t> values(indices.data<int32_t>(), indices.count());
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 0);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), bound);
    double deviation = std::sqrt((1.0 * bound * bound - 1) / 12 / static_cast<double>(values.size()));
    EXPECT_NEAR(moment(indices, 1), (bound - 1) / 2.0, 5 * deviation);
  }
  for (int32_t value = 0; value < 16; ++value)
    EXPECT_GT(std::count(leaf.data<int32_t>(), leaf.data<int32_t>() + leaf.count(), value), 0);
}

TEST(DrawTensors, KeyLengthsReachBothEnds) {
  Spec spec = parseGood("attention: probe\ndtype: f32\nbatch: 400\nqueries: 3\nheads: 1\nhead_dim: 1\n"
                        "key_lengths: true\nmechanism: {kind: softmax}\n");
  HostTensor lengths = drawAll(spec)["key_lengths"];
  for (int32_t value = 0; value <= 3; ++value)
    EXPECT_GT(std::count(lengths.data<int32_t>(), lengths.data<int32_t>() + 400, value), 50);
}

TEST(DrawTensors, OneTensorDoesNotMoveAnother) {
  // More heads of keys, a wider sketch and further tensors leave the others as they are.
  std::map<std::string, HostTensor> plain = drawAll(layer()), longer = drawAll(layer("key_lengths: true\nrope: {}\n"));
  EXPECT_EQ(longer.size(), plain.size() + 1);
  for (const auto &[name, tensor] : plain)
    EXPECT_EQ(longer[name].bytes, tensor.bytes) << name;
  EXPECT_EQ(drawAll(sketch("8"))["sketch.leaf0.sign"].bytes, drawAll(sketch("64"))["sketch.leaf0.sign"].bytes);
  EXPECT_NE(drawAll(layer(), 1)["wq"].bytes, drawAll(layer(), 2)["wq"].bytes);
}
