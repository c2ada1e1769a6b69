//===- ScaledSquares.cpp - Squared units that go from run to run -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside a run sums of products of two entries are in the square of a unit K M^(p/2) or, where entries need no unit M of their own, of K
// alone; between runs they are e^k times what is stored. On the way in units are powers of two in which the largest sum, z, is about 1:
//
//     e^k = (K M^(p/2))² x    c = round((k log₂e + log₂z) / p), M = 2^c,   h = round((k log₂e + log₂z − p c) / 2), K = 2^h
//
// and sums are multiplied by x. On the way out k is the whole number next to ln(K² M^p), and they are multiplied by what it rounds off.
//
//===----------------------------------------------------------------------===//
#include "NaturalScale.h"
#include "PowersApart.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// Exponents of units, within the range of f32.
constexpr double mostExponent = 120;

/// round(x · factor) within ± mostExponent: [1].
Value roundedPart(TileBuilder &tiles, Value x, double factor) {
  Value part = tiles.roundEven(tiles.times(x, tiles.constant({1}, factor)));
  return tiles.minimum(tiles.maximum(part, tiles.constant({1}, -mostExponent)), tiles.constant({1}, mostExponent));
}

struct GivenSquares : Term {
  GivenSquares(int64_t power, double leastLength) : power(power), leastLength(leastLength) {}

  StringRef name() const override { return "given_squares"; }
  void printParameters(raw_ostream &os) const override {
    if (power)
      os << " {power = " << power << '}';
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    auto number = [&](double value) { return tiles.constant({1}, value); };
    Value k = operands[0]->tile(site), z = operands[1]->tile(site);                                 // [1], [1]
    Value filled = tiles.selectEqual(z, 0, number(1), z), high = number(terms::log2eHigh);
    Value exponent = tiles.plus(tiles.times(k, high), tiles.roundEven(tiles.log2(filled))), whole = number(0), length;
    if (power) {
      Value c = roundedPart(tiles, exponent, 1.0 / static_cast<double>(power));
      length = tiles.selectEqual(z, 0, number(leastLength), tiles.exp2(c));
      whole = tiles.times(c, number(static_cast<double>(power)));
    }
    Value h = roundedPart(tiles, tiles.minus(exponent, whole), 0.5);
    Value unit = tiles.selectEqual(z, 0, number(tile::leastUnit), tiles.exp2(h));
    whole = tiles.plus(whole, tiles.plus(h, h));
    Value rest = tiles.plus(tiles.fma(k, high, tiles.negate(whole)), tiles.times(k, number(terms::log2eLow)));
    Value factor = tiles.selectEqual(z, 0, number(1), tiles.exp2(rest));
    return {unit, factor, length ? length : unit};
  }

  int64_t power;
  double leastLength;
};

struct ScaleOfSquares : Term {
  explicit ScaleOfSquares(int64_t power) : power(power) {}

  StringRef name() const override { return "scale_of_squares"; }
  void printParameters(raw_ostream &os) const override {
    if (power)
      os << " {power = " << power << '}';
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    auto number = [&](double value) { return tiles.constant({1}, value); };
    Value unit = tiles.maximum(operands[0]->tile(site), number(tile::leastUnit));                   // [1]
    terms::Apart all = terms::powerApart(tiles, unit, 1);
    if (power) {
      terms::Apart ofLength = terms::powerApart(tiles, operands[1]->tile(site), power / 2);
      all = {tiles.plus(all.exponent, ofLength.exponent), tiles.times(all.rest, ofLength.rest)};
    }
    Value k = tiles.roundEven(tiles.times(all.exponent, number(M_LN2)));
    k = tiles.selectEqual(unit, tile::leastUnit, number(0), k); // that of no keys
    Value rest = tiles.minus(tiles.fma(k, number(-terms::log2eHigh), all.exponent), tiles.times(k, number(terms::log2eLow)));
    return {k, tiles.times(all.rest, tiles.exp2(rest))};
  }

  int64_t power;
};
} // namespace

terms::TermPtr terms::givenSquares(int64_t power, double leastLength) { return std::make_unique<GivenSquares>(power, leastLength); }
terms::TermPtr terms::scaleOfSquares(int64_t power) { return std::make_unique<ScaleOfSquares>(power); }
