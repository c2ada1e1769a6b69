//===- BuildMechanismTest.cpp - Mechanisms as ops and their attributes ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BuiltSpec.h"

#include <gmock/gmock.h>

using namespace attune;
using testing::ElementsAre;

namespace {

/// A spec of width 16, so that the default scale is 1/4.
std::string mechanism(const std::string &fields, const std::string &more = "") {
  return specText("queries: 32\n" + more + "mechanism: {" + fields + "}\n");
}

attn::FeatureMapAttr mapOf(const std::string &map, const std::string &more = "") {
  // The attribute outlives its context here, so only its text and numbers may be compared by the caller at once.
  static std::vector<std::unique_ptr<Built>> kept;
  kept.push_back(std::make_unique<Built>(mechanism("kind: kernel, feature_map: {kind: " + map + "}", more)));
  return kept.back()->only<attn::KernelOp>().getFeatureMap();
}

} // namespace

TEST(BuildMechanism, Polynomial) {
  Built plain(mechanism("kind: polynomial, degree: 4, denominator: {bias: 1}"));
  auto op = plain.only<attn::PolynomialOp>();
  EXPECT_EQ(op.getDegree(), 4u);
  EXPECT_EQ(op.getScale().convertToDouble(), 1.0); // not d^-1/2
  EXPECT_EQ(op.getDenominator().getBias(), 1.0);
  EXPECT_EQ(op.getDenominator().getFloor(), 0.0);
  Built scaled(mechanism("kind: polynomial, degree: 2", "scale: 0.5\ncausal: true\n"));
  EXPECT_EQ(scaled.only<attn::PolynomialOp>().getScale().convertToDouble(), 0.5);
  EXPECT_TRUE(scaled.only<attn::PolynomialOp>().getCausal());
}

TEST(BuildMechanism, PolysketchTakesItsTreeInOrder) {
  Built built(mechanism("kind: polysketch, degree: 8, size: 4, local_exact: 8", "causal: true\n"));
  auto op = built.only<attn::PolysketchOp>();
  std::vector<std::string> signs, indices;
  for (mlir::Value value : op.getSigns())
    signs.push_back(Built::sourceOf(value));
  for (mlir::Value value : op.getIndices())
    indices.push_back(Built::sourceOf(value));
  EXPECT_THAT(signs, ElementsAre("sketch.leaf0.sign", "sketch.leaf1.sign", "sketch.leaf2.sign", "sketch.leaf3.sign",
                                 "sketch.node0.sign_a", "sketch.node0.sign_b", "sketch.node1.sign_a",
                                 "sketch.node1.sign_b", "sketch.node2.sign_a", "sketch.node2.sign_b"));
  ASSERT_EQ(indices.size(), 10u);
  EXPECT_EQ(indices[3], "sketch.leaf3.index");
  EXPECT_EQ(indices[9], "sketch.node2.index_b");
  EXPECT_EQ(op.getDegree(), 8u);
  EXPECT_EQ(op.getSize(), 4u);
  EXPECT_EQ(op.getLocalExact(), 8u);
  EXPECT_EQ(op.getScale().convertToDouble(), 1.0);
}

TEST(BuildMechanism, FeatureMapsAndTheirScales) {
  attn::FeatureMapAttr favor = mapOf("favor, features: 24");
  EXPECT_EQ(favor.getFeatureCount(), 24);
  EXPECT_EQ(favor.getScale(), 0.25); // always normalizes
  EXPECT_EQ(favor.getStabilizer(), attn::Stabilizer::Constant);
  EXPECT_EQ(mapOf("favor, features: 24", "scale: 2\n").getScale(), 2);
  EXPECT_EQ(mapOf("favor, features: 24, epsilon: 0.5, stabilizer: projection").getStabilizer(),
            attn::Stabilizer::Projection);
  attn::FeatureMapAttr relu = mapOf("favor_relu, features: 24");
  EXPECT_EQ(relu.getScale(), 0); // takes x as it is
  EXPECT_EQ(relu.getEpsilon(), 1e-3);
  EXPECT_EQ(mapOf("favor_relu, features: 24, normalize: true").getScale(), 0.25);
  EXPECT_EQ(mapOf("cosformer, max_position: 99").getMaxPosition(), 99);
  attn::FeatureMapAttr focused = mapOf("focused, power: 5");
  EXPECT_EQ(focused.getPower(), 5);
  EXPECT_EQ(focused.getEpsilon(), 1e-6);
}

TEST(BuildMechanism, ParametersOfMaps) {
  Built favor(mechanism("kind: kernel, feature_map: {kind: favor, features: 24, per_head: true}"));
  EXPECT_EQ(show(favor.only<attn::KernelOp>().getParameter().getType()), "tensor<4x24x16xf32>");
  Built focused(mechanism("kind: kernel, feature_map: {kind: focused}"));
  EXPECT_EQ(Built::sourceOf(focused.only<attn::KernelOp>().getParameter()), "focus");
  EXPECT_FALSE(Built(mechanism("kind: kernel, feature_map: {kind: relu}")).only<attn::KernelOp>().getParameter());
}

TEST(BuildMechanism, DenominatorsHaveTheirDefaults) {
  auto guardOf = [](const std::string &map, const std::string &more) {
    Built built(mechanism("kind: kernel, feature_map: {kind: " + map + "}" + more));
    attn::DenominatorAttr guard = built.only<attn::KernelOp>().getDenominator();
    return std::pair(guard.getBias(), guard.getFloor());
  };
  EXPECT_EQ(guardOf("relu", ""), std::pair(0.0, 1e-6));
  EXPECT_EQ(guardOf("cosformer, max_position: 32", ", denominator: {bias: 2}"), std::pair(2.0, 1e-6));
  EXPECT_EQ(guardOf("relu", ", denominator: {floor: 0}"), std::pair(0.0, 0.0));
  EXPECT_EQ(guardOf("focused", ""), std::pair(0.0, 0.0));
}

TEST(BuildMechanism, EvaAndItsWindow) {
  Built built(mechanism("kind: eva, window: {length: 16}, chunk: 8, mass: true", "key_lengths: true\n"));
  auto op = built.only<attn::EvaOp>();
  EXPECT_EQ(op.getLocal(), 16u);
  EXPECT_EQ(op.getChunk(), 8u);
  EXPECT_EQ(op.getMuWeight().convertToDouble(), 0.5);
  EXPECT_TRUE(op.getMass());
  EXPECT_FALSE(op.getExcludeLocal());
  EXPECT_FALSE(op.getCausal());
  EXPECT_EQ(Built::sourceOf(op.getLengths()), "key_lengths");
  EXPECT_FALSE(Built(mechanism("kind: eva, chunk: 8")).only<attn::EvaOp>().getLocal());
}

TEST(BuildMechanism, EffattAndAgent) {
  Built agent(mechanism("kind: agent, agents: 8"));
  EXPECT_EQ(agent.only<attn::AgentOp>().getAgents(), 8u);
  EXPECT_EQ(agent.only<attn::AgentOp>().getScale().convertToDouble(), 0.25);
  Built effatt(mechanism("kind: effatt", "key_lengths: true\nkeys: 7\n"));
  EXPECT_EQ(Built::sourceOf(effatt.only<attn::EffattOp>().getLengths()), "key_lengths");
}

TEST(BuildMechanism, Windows) {
  Built line(mechanism("kind: softmax, window: {length: 8}"));
  EXPECT_EQ(showAttribute(line.only<attn::SoftmaxOp>().getWindowAttr()), "#attn.window<8>");
  Built image(mechanism("kind: polynomial, degree: 2, window: {grid: [4, 8], size: [2, 4]}"));
  attn::WindowAttr window = image.only<attn::PolynomialOp>().getWindowAttr();
  EXPECT_EQ(window.getRows(), 2);
  EXPECT_EQ(window.getColumns(), 4);
  EXPECT_EQ(window.getGridRows(), 4);
  EXPECT_EQ(window.getGridColumns(), 8);
}
