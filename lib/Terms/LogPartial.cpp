//===- LogPartial.cpp - Sums over keys of features that are exponents ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows carry what they carry in online softmax: the largest exponent of their weights, Σ_j w_j, Σ_j w_j v_j, for
// w_ij = Σ_f g_if 2^Lq_if g_jf 2^Lk_jf.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// The largest exponent of each feature, at least `noLogarithm`: [m].
struct FeatureUnit : Term {
  StringRef name() const override { return "feature_unit"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value maximum = tiles.reduceMax(operands[0]->tile(site), 0);                                    // [m]
    return {tiles.maximum(maximum, tiles.constant(tiles.shape(maximum), kernel::noLogarithm))};
  }
};

/// Queries in units 2^R of the keys' features: exponents Lq + R [T, m].
struct InFeatureUnit : Term {
  StringRef name() const override { return "in_feature_unit"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Plain;
  }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> q = operands[0]->tiles(site);                                             // [T, m] each
    q[0] = tiles.plus(q[0], tiles.expand(operands[1]->tile(site), 0, tiles.shape(q[0])));
    return q;
  }
};

struct LogSums : StreamedTerm {
  LogSums(std::optional<int64_t> width, attn::DenominatorAttr guard) : width(width), guard(guard) {}

  Representation gives() const override { return Representation::Scaled; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 2 ? Representation::Log : Representation::Plain;
  }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
  }
  std::optional<double> leastUnit() const override { return kernel::leastExponent(guard); }
  AxisSet ownAxes() const override { return width ? AxisSet() : setOf({Axis::Query, Axis::Key}); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    if (!width)
      return {{rows}, {rows, site[Axis::Key].count}}; // unit, w
    return {{rows}, {rows}, {rows, *width}}; // unit, den, num
  }
  /// w [T, T] in that unit.
  virtual Value weights(const TileSite &site, Sources operands, Value unit) const = 0;
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit,
                                       ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value w = weights(site, operands, unit);                                                        // [Tq, Tk]
    if (!width)
      return {tiles.plus(sums[0], w)};
    Value v = operands[3]->tile(site, tiles.builder.getF32Type());                                  // [Tk, dv]
    return {tiles.plus(sums[0], tiles.reduceAdd(w, 1)), tiles.dot(w, v, sums[1])};
  }

  std::optional<int64_t> width;
  attn::DenominatorAttr guard;
};

/// Of (Lq + R, Lk, R, v): keys that all rows see take one product, relative to their largest exponents.
struct LogPartial : LogSums {
  using LogSums::LogSums;

  StringRef name() const override { return "log_partial"; }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    return site.tiles().reduceMax(operands[0]->tile(site), 1);                                      // [Tq]
  }
  Value weights(const TileSite &site, Sources operands, Value unit) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [T, m] each
    SmallVector<int64_t> shape(tiles.shape(q.exponents)), pairs{shape[0], tiles.shape(k.exponents)[0]};
    Value top = tiles.expand(operands[2]->tile(site), 0, tiles.shape(k.exponents));
    Value a = q.at(tiles, tiles.minus(q.exponents, tiles.expand(unit, 1, shape)));
    Value b = k.at(tiles, tiles.minus(k.exponents, top));
    return tiles.dot(a, b, tiles.constant(pairs, 0), false, true);
  }
};

/// Of (Lq, Lk, R, v): pairs j ≤ i of the tile at the diagonal (LogPairs.h).
struct LogDiagonal : LogSums {
  LogDiagonal(std::optional<int64_t> width, attn::DenominatorAttr guard, int64_t bands) : LogSums(width, guard), bands(bands) {}

  StringRef name() const override { return "log_diagonal"; }
  void printParameters(raw_ostream &os) const override { os << " {bands = " << bands << '}'; }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [T, m] each
    return kernel::unitOfPairs(site.tiles(), q, k, operands[2]->tile(site), bands);                 // [T]
  }
  Value weights(const TileSite &site, Sources operands, Value unit) const override {
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);
    return kernel::weightsOfPairs(site.tiles(), q, k, operands[2]->tile(site), unit, bands);
  }

  int64_t bands;
};
} // namespace

terms::TermPtr terms::featureUnit() { return std::make_unique<FeatureUnit>(); }
terms::TermPtr terms::inFeatureUnit() { return std::make_unique<InFeatureUnit>(); }
terms::StreamedPtr terms::logPartial(std::optional<int64_t> width, attn::DenominatorAttr guard) {
  return std::make_unique<LogPartial>(width, guard);
}
terms::StreamedPtr terms::logDiagonal(std::optional<int64_t> width, attn::DenominatorAttr guard, int64_t bands) {
  return std::make_unique<LogDiagonal>(width, guard, bands);
}
