//===- SlicedReadout.cpp - What slices of a state give --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The features of a state are an axis as keys are: rows sum over them, in a unit where features are exponents.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// num = Σ a S, den = Σ a z.
struct Readouts : StreamedTerm {
  explicit Readouts(int64_t width) : width(width) {}

  StringRef name() const override { return "readouts"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  AxisSet ownAxes() const override { return setOf(Axis::Query); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows, width}, {rows}}; // num, den
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Value a = operands[0]->tile(site);                                                              // [T, c]
    SmallVector<Value, 3> state = operands[1]->tiles(site);                                         // S [c, dv], z [c]
    Value part = tiles.reduceAdd(tiles.times(a, tiles.expand(state[1], 0, tiles.shape(a))), 1);     // [T]
    return {tiles.dot(a, state[0], sums[0]), tiles.plus(sums[1], part)};
  }

  int64_t width;
};

/// The same with a = g 2^(L + M − c), in a unit 2^c of each row.
struct LogReadouts : StreamedTerm {
  LogReadouts(int64_t width, attn::DenominatorAttr guard) : width(width), guard(guard) {}

  StringRef name() const override { return "readouts"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Scaled;
  }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
  }
  std::optional<double> leastUnit() const override { return kernel::leastExponent(guard); }
  AxisSet ownAxes() const override { return setOf(Axis::Query); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows}, {rows}, {rows, width}}; // c, den, num
  }
  /// L + M [T, c].
  static Value total(const TileSite &site, Sources operands) {
    TileBuilder &tiles = site.tiles();
    Value exponents = operands[0]->tile(site), unit = operands[1]->tile(site);                      // [T, c], [c]
    return tiles.plus(exponents, tiles.expand(unit, 0, tiles.shape(exponents)));
  }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    return site.tiles().reduceMax(total(site, operands), 1);                                        // [T]
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit,
                                       ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures q = logFeatures(operands[0], site);
    SmallVector<Value, 3> state = operands[1]->tiles(site);                                         // M, z [c], S [c, dv]
    SmallVector<int64_t> shape(tiles.shape(q.exponents));
    Value a = q.at(tiles, tiles.minus(total(site, operands), tiles.expand(unit, 1, shape)));        // [T, c]
    Value part = tiles.reduceAdd(tiles.times(a, tiles.expand(state[1], 0, shape)), 1);              // [T]
    return {tiles.plus(sums[0], part), tiles.dot(a, state[2], sums[1])};
  }

  int64_t width;
  attn::DenominatorAttr guard;
};

/// Σ_j w_j and Σ_j w_j v_j of weights that are in a unit of their row and tile.
struct WeighedPartial : StreamedTerm {
  WeighedPartial(int64_t width, attn::DenominatorAttr guard) : width(width), guard(guard) {}

  StringRef name() const override { return "weighed_partial"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Scaled : Representation::Plain;
  }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
  }
  std::optional<double> leastUnit() const override { return kernel::leastExponent(guard); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    return {{rows}, {rows}, {rows, width}}; // unit, den, num
  }
  Value buildUnit(const TileSite &site, Sources operands) const override { return operands[0]->tiles(site)[0]; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value unit,
                                       ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> pairs = operands[0]->tiles(site);                                         // [Tq], [Tq, Tk]
    Value factor = tiles.exp2(tiles.minus(pairs[0], unit));                                         // [Tq]
    Value w = tiles.times(pairs[1], tiles.expand(factor, 1, tiles.shape(pairs[1])));                // [Tq, Tk]
    Value v = operands[1]->tile(site, tiles.builder.getF32Type());                                  // [Tk, dv]
    return {tiles.plus(sums[0], tiles.reduceAdd(w, 1)), tiles.dot(w, v, sums[1])};
  }

  int64_t width;
  attn::DenominatorAttr guard;
};
} // namespace

terms::StreamedPtr terms::readouts(int64_t width) { return std::make_unique<Readouts>(width); }
terms::StreamedPtr terms::logReadouts(int64_t width, attn::DenominatorAttr guard) {
  return std::make_unique<LogReadouts>(width, guard);
}
terms::StreamedPtr terms::weighedPartial(int64_t width, attn::DenominatorAttr guard) {
  return std::make_unique<WeighedPartial>(width, guard);
}
