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

/// factor · A ω of each row, for A [T, m] and ω [m, d].
static Value throughOmega(TileBuilder &tiles, Value a, Value omega, double factor) {
  SmallVector<int64_t> shape{tiles.shape(a)[0], tiles.shape(omega)[1]};
  Value sum = tiles.exactDot(a, omega, tiles.constant(shape, 0));                                   // [T, d]
  return factor == 1 ? sum : tiles.times(sum, tiles.constant(shape, factor));
}

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

/// The sign is that of ⟨ω, x⟩ as x is given.
struct FavorReluGradient : Term {
  FavorReluGradient(double scale, bool ofProduct) : scale(scale), ofProduct(ofProduct) {}

  StringRef name() const override { return ofProduct ? "favor_relu_product_gradient" : "favor_relu_gradient"; }
  void printParameters(raw_ostream &os) const override { os << " {scale = " << scale << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), cotangent = operands[1]->tile(site, f32);               // [T, d], [T, m]
    Value omega = operands[2]->tile(site, f32), product = kernel::timesOmega(tiles, x, omega, 1);   // [m, d], [T, m]
    Value zero = tiles.constant(tiles.shape(product), 0);
    Value passed = tiles.select(tiles.compare(arith::CmpFPredicate::OGT, product, zero), cotangent, zero);
    if (ofProduct)
      return {tiles.times(passed, tiles.constant(tiles.shape(passed), rootOf(scale)))};
    return {throughOmega(tiles, passed, omega, rootOf(scale))};
  }

  double scale;
  bool ofProduct; ///< what reaches x ωᵀ, in place of x̄
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
    Value exponential = exponentials(site, operands);
    ArrayRef<int64_t> shape = tiles.shape(exponential);
    Value sum = tiles.plus(exponential, tiles.constant(shape, options.epsilon));
    return {tiles.times(sum, tiles.constant(shape, share()))};
  }

protected:
  using Stabilizer = terms::FavorOptions::Stabilizer;

  /// m^{−½}.
  double share() const { return 1 / std::sqrt(static_cast<double>(options.features)); }

  /// e^{L − c}: [T, m].
  Value exponentials(const TileSite &site, Sources operands) const {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), omega = options.folded ? Value() : operands[1]->tile(site, f32);
    SmallVector<int64_t> shape{tiles.shape(x)[0], options.features};
    Value product = kernel::timesOmega(tiles, x, omega, M_LOG2E * rootOf(options.scale));           // [T, m]
    Value below = options.squares ? kernel::halfSquares(tiles, x, options.scale) : Value();         // [T]
    if (Value c = stabilizer(site, operands, product))                                              // [T]
      below = below ? tiles.plus(below, c) : c;
    return tiles.exp2(below ? tiles.minus(product, tiles.expand(below, 1, shape)) : product);
  }

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

/// √s L̄ [T, m].
Value reachingProduct(TileBuilder &tiles, Value products, double scale) {
  return tiles.times(products, tiles.constant(tiles.shape(products), rootOf(scale)));
}

/// √s (L̄ ω − (Σ_f L̄_f) x') [T, d].
Value reachingTokens(TileBuilder &tiles, Value x, Value omega, Value products, double scale) {
  ArrayRef<int64_t> width = tiles.shape(x);
  double root = rootOf(scale);
  Value total = tiles.expand(tiles.reduceAdd(products, 1), 1, width);                               // [T, d]
  Value below = tiles.times(tiles.times(total, x), tiles.constant(width, root * root));
  return tiles.minus(throughOmega(tiles, products, omega, root), below);
}

/// Of (x, ω, L̄).
struct FavorLogGradient : Term {
  FavorLogGradient(double scale, bool ofProduct) : scale(scale), ofProduct(ofProduct) {}

  StringRef name() const override { return ofProduct ? "favor_log_product_gradient" : "favor_log_gradient"; }
  void printParameters(raw_ostream &os) const override { os << " {scale = " << scale << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value products = operands[2]->tile(site, f32);                                                  // [T, m]
    if (ofProduct)
      return {reachingProduct(tiles, products, scale)};
    return {reachingTokens(tiles, operands[0]->tile(site, f32), operands[1]->tile(site, f32), products, scale)};
  }

  double scale;
  bool ofProduct;
};

/// L̄ = φ̄ ⊙ m^{−½} e^{L − c}, x̄ = √s (L̄ ω − (Σ_f L̄_f) x'): of the operands of the map, then the cotangent.
struct FavorGradient : Favor {
  FavorGradient(terms::FavorOptions options, bool ofProduct) : Favor(options), ofProduct(ofProduct) {}

  StringRef name() const override { return ofProduct ? "favor_product_gradient" : "favor_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = operands[0]->tile(site, f32), omega = operands[1]->tile(site, f32);                   // [T, d], [m, d]
    Value exponential = exponentials(site, operands.drop_back()), cotangent = operands.back()->tile(site, f32);
    ArrayRef<int64_t> features = tiles.shape(exponential);
    Value products = tiles.times(tiles.times(cotangent, exponential), tiles.constant(features, share())); // [T, m]
    return {ofProduct ? reachingProduct(tiles, products, options.scale) : reachingTokens(tiles, x, omega, products, options.scale)};
  }

  bool ofProduct; ///< √s L̄, in place of x̄
};
} // namespace

terms::TermPtr terms::favorRelu(double scale, double epsilon) { return std::make_unique<FavorRelu>(scale, epsilon); }
terms::TermPtr terms::omegaSquares() { return std::make_unique<OmegaSquares>(); }
terms::TermPtr terms::favor(FavorOptions options) { return std::make_unique<Favor>(options); }
terms::TermPtr terms::favorReluGradient(double scale) { return std::make_unique<FavorReluGradient>(scale, false); }
terms::TermPtr terms::favorReluProductGradient(double scale) { return std::make_unique<FavorReluGradient>(scale, true); }
terms::TermPtr terms::favorGradient(FavorOptions options) { return std::make_unique<FavorGradient>(options, false); }
terms::TermPtr terms::favorProductGradient(FavorOptions options) { return std::make_unique<FavorGradient>(options, true); }
terms::TermPtr terms::favorLogGradient(double scale) { return std::make_unique<FavorLogGradient>(scale, false); }
terms::TermPtr terms::favorLogProductGradient(double scale) { return std::make_unique<FavorLogGradient>(scale, true); }
