//===- EquivalenceTest.cpp - Every law, both sides, by the interpreter ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each form of random small attentions is evaluated in float64 beside the mechanism itself.
//
//===----------------------------------------------------------------------===//
#include "GraphFixture.h"
#include "attune/Graph/Memo.h"
#include "attune/Reference/EvalAttn.h"

#include <random>

using namespace mlir;
using namespace attune;
using namespace attune::graph;
using namespace attune::test;
using reference::Array;

namespace {
class EquivalenceTest : public GraphTest {
protected:
  Array draw(ArrayRef<int64_t> shape) {
    Array array(shape);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < array.bufferCount(); ++i)
      array.element(i) = normal(random);
    return array;
  }
  std::vector<Array> drawInputs(const KernelCase &c);
  KernelCase drawCase();
  /// Every form that the case can take against the mechanism; returns how many there were.
  int check(const KernelCase &c);

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

  std::mt19937_64 random{11};
};
} // namespace

std::vector<Array> EquivalenceTest::drawInputs(const KernelCase &c) {
  std::vector<Array> inputs{draw({c.batch, c.heads, c.queries, c.width}),
                            draw({c.batch, c.sharedHeads, c.keys, c.width}),
                            draw({c.batch, c.sharedHeads, c.keys, c.valueWidth})};
  if (c.lengths) {
    Array lengths({c.batch});
    for (int64_t b = 0; b < c.batch; ++b)
      lengths.element(b) = pick(0, c.keys);
    inputs.push_back(lengths);
  }
  if (!c.parameter.empty())
    inputs.push_back(draw(c.parameter));
  if (c.slots)
    inputs.push_back(draw({1, c.slots, c.keys}));
  if (c.initial) {
    // A state of earlier tokens: sums of features, which are positive.
    Array state = draw({c.batch, c.sharedHeads, c.width, c.valueWidth}), sum = draw({c.batch, c.sharedHeads, c.width});
    for (int64_t i = 0; i < sum.bufferCount(); ++i)
      sum.element(i) = std::abs(sum.element(i));
    inputs.push_back(state), inputs.push_back(sum);
  }
  if (c.decay) {
    Array decay = draw({c.parameter.empty() || c.parameter[0] == 1 ? c.sharedHeads : c.heads});
    for (int64_t h = 0; h < decay.bufferCount(); ++h)
      decay.element(h) = -std::abs(decay.element(h));
    inputs.push_back(decay);
  }
  return inputs;
}

KernelCase EquivalenceTest::drawCase() {
  KernelCase c;
  c.batch = pick(1, 2), c.sharedHeads = pick(1, 2), c.heads = c.sharedHeads * pick(1, 3);
  c.queries = pick(1, 9), c.width = pick(1, 5), c.valueWidth = pick(1, 5);
  c.causal = pick(0, 1), c.lengths = pick(0, 1), c.final = pick(0, 3) == 0;
  c.initial = c.causal && pick(0, 3) == 0;
  c.keys = c.causal ? c.queries : pick(1, 9);
  // Guards that f32 and float64 hold alike.
  c.bias = pick(0, 2) * 0.5, c.floor = pick(0, 1) * 0.25;
  return c;
}

int EquivalenceTest::check(const KernelCase &c) {
  OwningOpRef<ModuleOp> module = parse(c);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  std::vector<Array> inputs = drawInputs(c);
  FailureOr<std::vector<Array>> expected = reference::evalAttn(function, inputs);
  EXPECT_TRUE(succeeded(expected));
  auto laws = createLaws();
  Memo memo(function, laws);
  int forms = 0;
  for (auto [index, alternative] : llvm::enumerate(memo.groups()[0].alternatives)) {
    if (!alternative.feasible())
      continue;
    ++forms;
    OwningOpRef<func::FuncOp> plan = memo.realize(index);
    FailureOr<std::vector<Array>> found = reference::evalAttn(*plan, inputs);
    EXPECT_TRUE(succeeded(found));
    for (auto [a, b] : llvm::zip_equal(*found, *expected))
      EXPECT_LE(difference(a, b), 1e-10) << alternative.form.str() << "\n" << print(function);
  }
  return forms;
}

TEST_F(EquivalenceTest, FormsOfRandomAttentions) {
  int forms = 0;
  for (int round = 0; round < 200 && !HasFailure(); ++round)
    forms += check(drawCase());
  EXPECT_GE(forms, 250);
}

TEST_F(EquivalenceTest, FormsOfEveryMap) {
  // 6 queries and keys; 4 query heads on 2 key-value heads of 4 channels.
  KernelCase base{.batch = 2, .heads = 4, .sharedHeads = 2, .queries = 6, .keys = 6, .width = 4, .valueWidth = 3};
  const std::pair<const char *, std::vector<int64_t>> maps[] = {
      {"relu", {}},
      {"cosformer, max_position = 8", {}},
      {"focused, epsilon = 1.0e-6, power = 3.0", {4, 4}},
      {"favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = max", {1, 5, 4}},
      {"favor, features = 5, epsilon = 0.0, scale = 0.5, stabilizer = constant", {4, 5, 4}},
      {"favor, features = 5, epsilon = 0.01, scale = 0.5, stabilizer = constant", {1, 5, 4}},
      {"favor_relu, features = 5, epsilon = 0.001", {4, 5, 4}}};
  int forms = 0;
  for (const auto &[map, parameter] : maps)
    for (bool causal : {false, true})
      for (bool lengths : {false, true}) {
        KernelCase c = base;
        c.map = map, c.parameter = parameter, c.causal = causal, c.lengths = lengths;
        c.floor = llvm::StringRef(map).starts_with("favor,") ? 0 : 1e-6; // a guard would make stabilizers count
        forms += check(c);
      }
  // Two forms each, fused_state and merged_state without causal; with it split, and grouped where the map has no parameters of
  // each head.
  EXPECT_EQ(forms, 7 * 4 * 2 + 7 * 2 * 2 + 7 * 2 + 4 * 2);
}

TEST_F(EquivalenceTest, FormsThatDecayOrAreNotDivided) {
  KernelCase base{.batch = 2, .heads = 4, .sharedHeads = 2, .queries = 6, .keys = 6, .width = 4, .valueWidth = 3, .causal = true};
  const std::pair<const char *, std::vector<int64_t>> maps[] = {{"identity, scale = 0.5", {}},
                                                                {"elu1", {}},
                                                                {"focused, epsilon = 1.0e-6, power = 3.0", {4, 4}},
                                                                {"favor_relu, features = 5, epsilon = 0.001", {1, 5, 4}}};
  int forms = 0;
  for (const auto &[map, parameter] : maps)
    for (bool decay : {false, true})
      for (bool divides : {false, true})
        for (bool lengths : {false, true}) {
          KernelCase c = base;
          c.map = map, c.parameter = parameter, c.decay = decay, c.divides = divides, c.lengths = lengths;
          c.floor = divides ? 0.25 : 0;
          forms += check(c);
        }
  // quadratic, chunked and split; grouped where the map has no parameters of each head.
  EXPECT_EQ(forms, 4 * 8 * 3 + 3 * 8);
  base.decay = base.initial = true;
  EXPECT_EQ(check(base), 3); // pair weights do not continue a state
}

TEST_F(EquivalenceTest, MaximaOverKeysAreNotCausal) {
  KernelCase c{.queries = 5, .keys = 7, .width = 4, .valueWidth = 3, .lengths = true};
  c.parameter = {1, 5, 4};
  for (const char *stabilizer : {"max", "projection"}) {
    c.map = std::string("favor, features = 5, epsilon = 0.01, scale = 0.5, stabilizer = ") + stabilizer;
    EXPECT_EQ(check(c), 4);
  }
}

TEST_F(EquivalenceTest, WindowsAndSlotsHaveOneForm) {
  KernelCase windowed{.queries = 6, .keys = 6, .width = 4, .valueWidth = 3, .map = "relu", .window = 3};
  EXPECT_EQ(check(windowed), 1);
  windowed.causal = true;
  EXPECT_EQ(check(windowed), 1);
  KernelCase slots{.queries = 5, .keys = 6, .width = 4, .valueWidth = 3, .lengths = true, .slots = 3};
  EXPECT_EQ(check(slots), 1);
}

TEST_F(EquivalenceTest, KeysThatDoNotExistMayBeNaN) {
  KernelCase c{.batch = 1, .queries = 3, .keys = 4, .width = 2, .valueWidth = 2, .lengths = true};
  OwningOpRef<ModuleOp> module = parse(c);
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  std::vector<Array> inputs = drawInputs(c);
  inputs[3].element(0) = 2;
  FailureOr<std::vector<Array>> expected = reference::evalAttn(function, inputs);
  ASSERT_TRUE(succeeded(expected));
  for (int64_t place = 4; place < 8; ++place) // tokens 2 and 3
    inputs[1].element(place) = inputs[2].element(place) = NAN;
  auto laws = createLaws();
  Memo memo(function, laws);
  for (unsigned index : {0u, 1u}) {
    OwningOpRef<func::FuncOp> plan = memo.realize(index);
    FailureOr<std::vector<Array>> found = reference::evalAttn(*plan, inputs);
    ASSERT_TRUE(succeeded(found));
    EXPECT_LE(difference((*found)[0], (*expected)[0]), 1e-10);
  }
}

TEST_F(EquivalenceTest, SelectionDoesNotChangeTheFunction) {
  KernelCase unknown{
      .batch = 0, .heads = 2, .sharedHeads = 1, .width = 4, .valueWidth = 3, .causal = true, .bias = 0.5};
  OwningOpRef<ModuleOp> module = parse(unknown), original = parse(unknown);
  ASSERT_TRUE(succeeded(selectRewrites(*module, options())));
  KernelCase known = unknown;
  known.batch = 2, known.queries = known.keys = 9;
  std::vector<Array> inputs = drawInputs(known);
  FailureOr<std::vector<Array>> expected = reference::evalAttn(*original->getOps<func::FuncOp>().begin(), inputs);
  ASSERT_TRUE(succeeded(expected));
  for (func::FuncOp plan : module->getOps<func::FuncOp>()) {
    FailureOr<std::vector<Array>> found = reference::evalAttn(plan, inputs);
    ASSERT_TRUE(succeeded(found));
    EXPECT_LE(difference((*found)[0], (*expected)[0]), 1e-10) << plan.getName().str();
  }
}
