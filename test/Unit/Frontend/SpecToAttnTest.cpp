//===- SpecToAttnTest.cpp - Specs as modules of the attn dialect ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BuiltSpec.h"

#include <gmock/gmock.h>

using namespace attune;

TEST(SpecToAttn, SoftmaxWithEverything) {
  Built built("attention: probe\ndtype: bf16\nbatch: 3\nqueries: 5\nkeys: 7\nheads: 4\nkv_heads: 2\nhead_dim: 16\n"
              "value_dim: 8\ncausal: true\nkey_lengths: true\nscale: 0.5\nmechanism: {kind: softmax}\n");
  EXPECT_EQ(built.function.getName(), "probe");
  EXPECT_EQ(show(built.function.getFunctionType()),
            "(tensor<3x4x5x16xbf16>, tensor<3x2x7x16xbf16>, tensor<3x2x7x8xbf16>, tensor<3xi32>) -> "
            "tensor<3x4x5x8xbf16>");
  auto op = built.only<attn::SoftmaxOp>();
  EXPECT_EQ(op.getScale().convertToDouble(), 0.5);
  EXPECT_TRUE(op.getCausal());
  EXPECT_TRUE(op.getLengths());
  EXPECT_FALSE(op.getLse());
}

TEST(SpecToAttn, DefaultScaleIsOneOverTheRootOfTheWidth) {
  Built built(specText("queries: 8\nmechanism: {kind: softmax}\n"));
  EXPECT_EQ(built.only<attn::SoftmaxOp>().getScale().convertToDouble(), 0.25);
  EXPECT_FALSE(built.only<attn::SoftmaxOp>().getCausal());
}

TEST(SpecToAttn, UnknownSizesAreDynamic) {
  Built built("attention: probe\ndtype: f16\nbatch: '?'\nqueries: '?'\nheads: 1\nhead_dim: 3\n"
              "mechanism: {kind: kernel, feature_map: {kind: elu1}, denominator: {bias: 1e-6, floor: 0.25}}\n");
  EXPECT_EQ(show(built.function.getFunctionType()),
            "(tensor<?x1x?x3xf16>, tensor<?x1x?x3xf16>, tensor<?x1x?x3xf16>) -> tensor<?x1x?x3xf16>");
  attn::DenominatorAttr guard = built.only<attn::KernelOp>().getDenominator();
  EXPECT_EQ(guard.getBias(), 1e-6);
  EXPECT_EQ(guard.getFloor(), 0.25);
}

TEST(SpecToAttn, LocationsArePlacesOfTheFile) {
  Built built(specText("queries: 8\ncausal: true\nmechanism: {kind: softmax}\n"));
  auto place = mlir::cast<mlir::FileLineColLoc>(built.only<attn::SoftmaxOp>().getLoc());
  EXPECT_EQ(place.getFilename().str(), "probe.yaml");
  EXPECT_EQ(place.getLine(), 8u);
  EXPECT_EQ(place.getColumn(), 1u);
}

TEST(SpecToAttn, GradientsAreNamedByTheFunction) {
  Built named(specText("queries: 8\ngradients: [v, q]\nmechanism: {kind: softmax}\n"));
  EXPECT_EQ(showAttribute(named.function->getAttr("attn.gradients")), "[\"v\", \"q\"]");
  Built all(specText("queries: 8\ngradients: all\nmechanism: {kind: kernel, feature_map: {kind: focused}}\n"));
  EXPECT_EQ(showAttribute(all.function->getAttr("attn.gradients")), "[\"q\", \"k\", \"v\", \"focus\"]");
  Built none(specText("queries: 8\nmechanism: {kind: softmax}\n"));
  EXPECT_FALSE(none.function->hasAttr("attn.gradients"));
}

TEST(SpecToAttn, PinsTravelWithTheFunction) {
  Built built(specText("queries: 8\npin: {linearize: state}\nallow: [linearize]\n"
                       "mechanism: {kind: kernel, feature_map: {kind: elu1}}\n"));
  auto pins = built.function->getAttrOfType<mlir::DictionaryAttr>("attn.pin");
  ASSERT_TRUE(pins);
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(pins.get("linearize")).getValue(), "state");
  EXPECT_EQ(built.function->getAttrOfType<mlir::ArrayAttr>("attn.allow").size(), 1u);
}
