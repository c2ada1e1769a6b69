//===- ScaledState.cpp - States that go from run to run with their units ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a run rows of S and z are in units 2^M of features 2^L; between runs they are e^k times what is stored, of features
// m^{-1/2} 2^L:
//
//     2^M x = e^k m^{1/2} y     k = round(M ln 2 − ln(m)/2),  y = x 2^r,  r = M − k log₂e − log₂(m)/2
//
// k log₂e is a number of 48 bits, of which r keeps what is small: a scale of 100 rounded as it stands would cost the last three
// digits of the state. So does M on the way back.
//
// Cotangents of what is stored are those of e^k y, which is m^{-1/2} times the sums of features: those of sums in no units are m^{-1/2} times them. Maps
// that are not normalized by m^{-1/2} have states without scales.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogPairs.h"
#include "NaturalScale.h"
#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
constexpr float high = terms::log2eHigh;
constexpr double low = terms::log2eLow;

/// k log₂e of numbers [count], and what its rounding has lost.
std::pair<Value, Value> inBits(TileBuilder &tiles, Value k) {
  ArrayRef<int64_t> shape = tiles.shape(k);
  auto number = [&](double value) { return tiles.constant(shape, value); };
  Value product = tiles.times(k, number(high));
  return {product, tiles.fma(k, number(low), tiles.fma(k, number(high), tiles.negate(product)))};
}

struct ScaledState : Term {
  explicit ScaledState(int64_t features) : half(std::log2(static_cast<double>(features)) / 2), features(features) {}

  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  Representation gives(Sources) const override { return Representation::Scaled; }
  Value number(TileBuilder &tiles, double value) const { return tiles.constant({features}, value); }
  /// `unit`, and z and S times 2^exponent.
  static SmallVector<Value, 3> rescaled(TileBuilder &tiles, Value unit, Value exponent, ArrayRef<Value> state) {
    Value factor = tiles.exp2(exponent);                                                            // [m]
    return {unit, tiles.times(state[1], factor), tiles.times(state[2], tiles.expand(factor, 1, tiles.shape(state[2])))};
  }

  double half; ///< log₂(m)/2
  int64_t features;
};

struct GivenUnits : ScaledState {
  using ScaledState::ScaledState;

  StringRef name() const override { return "given_units"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // k [m], z [m], S [m, dv]
    auto [product, lost] = inBits(tiles, state[0]);
    Value unit = tiles.plus(product, number(tiles, half));
    Value rest = tiles.plus(tiles.plus(tiles.minus(product, unit), number(tiles, half)), lost);
    rest = tiles.selectEqual(state[1], 0, number(tiles, 0), rest);
    unit = tiles.selectEqual(state[1], 0, number(tiles, kernel::noLogarithm), unit);
    return rescaled(tiles, unit, rest, state);
  }
};

struct TrueState : ScaledState {
  using ScaledState::ScaledState;

  StringRef name() const override { return "true_state"; }
  Representation gives(Sources) const override { return Representation::Plain; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // k [m], z [m], S [m, dv]
    auto [product, lost] = inBits(tiles, state[0]);
    Value whole = tiles.roundEven(product), rest = tiles.plus(tiles.minus(product, whole), lost);   // [m]
    Value factor = tiles.times(tiles.exp2(whole), tiles.exp2(rest));
    factor = tiles.selectEqual(state[1], 0, number(tiles, 0), factor);
    return {tiles.times(state[2], tiles.expand(factor, 1, tiles.shape(state[2]))), tiles.times(state[1], factor)};
  }
};

struct CotangentUnits : ScaledState {
  CotangentUnits(int64_t features, bool normalized) : ScaledState(features), normalized(normalized) {}

  StringRef name() const override { return "cotangent_units"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Plain; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // S̄ [m, dv], z̄ [m]
    Value largest = tiles.maximum(tiles.reduceMax(tiles.abs(state[0]), 1), tiles.abs(state[1]));    // [m]
    Value unit = tiles.selectEqual(largest, 0, number(tiles, kernel::noLogarithm), number(tiles, 0));
    return rescaled(tiles, unit, number(tiles, normalized ? -half : 0), {unit, state[1], state[0]});
  }

  bool normalized;
};

struct UnitsOfSums : ScaledState {
  using ScaledState::ScaledState;

  StringRef name() const override { return "units_of_sums"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Plain; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // S [m, dv], z [m]
    // What is below the range has lost its digits.
    constexpr double least = 0x1p-126, most = 0x1p126;
    Value none = tiles.compare(arith::CmpFPredicate::OLT, state[1], number(tiles, least));
    Value size = tiles.minimum(tiles.select(none, number(tiles, 1), state[1]), number(tiles, most));
    Value unit = tiles.roundEven(tiles.log2(size)), factor = tiles.select(none, number(tiles, 0), tiles.exp2(tiles.negate(unit)));
    return {tiles.select(none, number(tiles, kernel::noLogarithm), unit), tiles.times(state[1], factor),
            tiles.times(state[0], tiles.expand(factor, 1, tiles.shape(state[0])))};
  }
};

struct SumsOfUnits : ScaledState {
  SumsOfUnits(int64_t features, bool normalized, bool offset)
      : ScaledState(features), more((normalized ? half : 0) - (offset ? kernel::stateOffset : 0)) {}

  StringRef name() const override { return "sums_of_units"; }
  Representation gives(Sources) const override { return Representation::Plain; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // M [m], z [m], S [m, dv]
    // A unit may be out of range where what is in it is not.
    Value part = tiles.exp2(tiles.times(tiles.plus(state[0], number(tiles, more)), number(tiles, .5)));
    auto scaled = [&](Value x) {
      for (int times = 0; times < 2; ++times)
        x = tiles.times(x, tile::repeated(tiles, part, SmallVector<int64_t>(tiles.shape(x))));
      return x;
    };
    return {scaled(state[2]), scaled(state[1])};
  }

  double more;
};

/// The same of rows that share one k.
struct Unscaled : Term {
  StringRef name() const override { return "unscaled"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), k = operands[1]->tile(site);                                 // [T] or [T, c], [1]
    SmallVector<int64_t> shape(tiles.shape(x));
    auto [product, lost] = inBits(tiles, k);
    Value whole = tiles.roundEven(product), rest = tiles.plus(tiles.minus(product, whole), lost);
    auto scaled = [&](Value by) { x = tiles.times(x, tile::repeated(tiles, tiles.exp2(by), shape)); };
    Value given = x;
    scaled(whole), scaled(rest);
    return {tiles.selectEqual(given, 0, tiles.constant(shape, 0), x)};
  }
};

struct ScalesOfUnits : ScaledState {
  ScalesOfUnits(int64_t features, bool offset) : ScaledState(features), offset(offset ? kernel::stateOffset : 0) {}

  StringRef name() const override { return "scales_of_units"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> state = operands[0]->tiles(site);                                         // M [m], z [m], S [m, dv]
    Value unit = tiles.selectEqual(state[1], 0, number(tiles, half), state[0]);                     // of nothing k is 0
    Value k = tiles.roundEven(tiles.times(tiles.minus(unit, number(tiles, half)), number(tiles, M_LN2)));
    Value rest = tiles.minus(tiles.fma(k, number(tiles, -high), unit), tiles.times(k, number(tiles, low)));
    return rescaled(tiles, k, tiles.minus(rest, number(tiles, half + offset)), state);
  }

  double offset;
};
} // namespace

terms::TermPtr terms::givenUnits(int64_t features) { return std::make_unique<GivenUnits>(features); }
terms::TermPtr terms::trueState(int64_t features) { return std::make_unique<TrueState>(features); }
terms::TermPtr terms::unitsOfSums(int64_t features) { return std::make_unique<UnitsOfSums>(features); }
terms::TermPtr terms::sumsOfUnits(int64_t features, bool normalized, bool offset) {
  return std::make_unique<SumsOfUnits>(features, normalized, offset);
}
terms::TermPtr terms::cotangentUnits(int64_t features, bool normalized) { return std::make_unique<CotangentUnits>(features, normalized); }
terms::TermPtr terms::unscaled() { return std::make_unique<Unscaled>(); }
terms::TermPtr terms::scalesOfUnits(int64_t features, bool offset) { return std::make_unique<ScalesOfUnits>(features, offset); }
