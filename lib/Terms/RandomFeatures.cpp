//===- RandomFeatures.cpp - Features of products with random vectors -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "MapFormulas.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// √s, 1 where there is no s.
static double rootOf(double scale) { return scale == 0 ? 1 : std::sqrt(scale); }

namespace {
struct FavorRelu : Term {
  FavorRelu(double scale, double epsilon) : scale(scale), epsilon(epsilon) {}

  StringRef name() const override { return "favor_relu"; }
  void printParameters(raw_ostream &os) const override {
    os << " {scale = " << scale << ", epsilon = " << epsilon << '}';
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), omega = operands.size() > 1 ? operands[1]->tile(site, f32) : Value();
    Value features = kernel::relu(tiles, kernel::timesOmega(tiles, x, omega, rootOf(scale)));       // [T, m]
    return {tiles.plus(features, tiles.constant(tiles.shape(features), epsilon))};
  }

  double scale, epsilon;
};

struct OmegaSquares : Term {
  StringRef name() const override { return "omega_squares"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value omega = operands[0]->tile(site, tiles.builder.getF32Type());                              // [m, d]
    return {kernel::halfSquares(tiles, omega, 1)};
  }
};

struct Favor : Term {
  explicit Favor(terms::FavorOptions options) : options(options) {}

  StringRef name() const override { return "favor"; }
  void printParameters(raw_ostream &os) const override {
    os << " {scale = " << options.scale << ", epsilon = " << options.epsilon << ", features = " << options.features
       << (options.squares ? ", squares}" : "}");
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), omega = options.folded ? Value() : operands[1]->tile(site, f32);
    SmallVector<int64_t> shape{tiles.shape(x)[0], options.features};
    Value product = kernel::timesOmega(tiles, x, omega, M_LOG2E * rootOf(options.scale));           // [T, m]
    Value below = options.squares ? kernel::halfSquares(tiles, x, options.scale) : Value();         // [T]
    if (Value c = stabilizer(site, operands, product))                                              // [T]
      below = below ? tiles.plus(below, c) : c;
    Value exponential = tiles.exp2(below ? tiles.minus(product, tiles.expand(below, 1, shape)) : product);
    Value sum = tiles.plus(exponential, tiles.constant(shape, options.epsilon));
    return {tiles.times(sum, tiles.constant(shape, 1 / std::sqrt(static_cast<double>(options.features))))};
  }

private:
  using Stabilizer = terms::FavorOptions::Stabilizer;

  Value stabilizer(const TileSite &site, Sources operands, Value product) const {
    TileBuilder &tiles = site.tiles();
    int64_t rows = tiles.shape(product)[0];
    switch (options.stabilizer) {
    case Stabilizer::None:
      return Value();
    case Stabilizer::Row:
      return tiles.reduceMax(product, 1);
    case Stabilizer::OfFeatures:
      return tiles.reduceMax(tiles.expand(operands.back()->tile(site), 0, {rows, options.features}), 1);
    case Stabilizer::One: {
      Value ones = tiles.constant({rows, 1}, 1), c = operands.back()->tile(site);                   // [T, 1], [1, 1]
      return tiles.reduceAdd(tiles.exactDot(ones, c, tiles.constant({rows, 1}, 0)), 1);
    }
    }
    llvm_unreachable("every stabilizer is above");
  }

  terms::FavorOptions options;
};
} // namespace

terms::TermPtr terms::favorRelu(double scale, double epsilon) { return std::make_unique<FavorRelu>(scale, epsilon); }
terms::TermPtr terms::omegaSquares() { return std::make_unique<OmegaSquares>(); }
terms::TermPtr terms::favor(FavorOptions options) { return std::make_unique<Favor>(options); }
