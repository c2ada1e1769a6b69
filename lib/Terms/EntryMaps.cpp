//===- EntryMaps.cpp - Feature maps of each entry -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "MapFormulas.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct Relu : Term {
  StringRef name() const override { return "relu"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {kernel::relu(tiles, operands[0]->tile(site, tiles.builder.getF32Type()))};
  }
};

struct Elu1 : Term {
  StringRef name() const override { return "elu1"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    return {kernel::elu1(tiles, operands[0]->tile(site, tiles.builder.getF32Type()))};
  }
};

/// φ̄ ⊙ (x > 0); with `exponential` φ̄ ⊙ e^{min(x, 0)}.
struct EntryGradient : Term {
  explicit EntryGradient(bool exponential) : exponential(exponential) {}

  StringRef name() const override { return exponential ? "elu1_gradient" : "relu_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), cotangent = operands[1]->tile(site, f32);               // [T, d]
    if (!exponential)
      return {kernel::wherePositive(tiles, x, cotangent)};
    return {tiles.times(cotangent, tiles.exp(tiles.minimum(x, tiles.constant(tiles.shape(x), 0))))};
  }

  bool exponential;
};
} // namespace

terms::TermPtr terms::reluGradient() { return std::make_unique<EntryGradient>(/*exponential=*/false); }
terms::TermPtr terms::elu1Gradient() { return std::make_unique<EntryGradient>(/*exponential=*/true); }
terms::TermPtr terms::relu() { return std::make_unique<Relu>(); }
terms::TermPtr terms::elu1() { return std::make_unique<Elu1>(); }
