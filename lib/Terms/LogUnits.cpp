//===- LogUnits.cpp - Exponents in units of a state ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// What reads exponents and the units of a state.
struct LogTerm : Term {
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Scaled;
  }
};

/// 2^(L − M), M being the units [m] of a state, or alone.
struct InUnit : LogTerm {
  StringRef name() const override { return "in_unit"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? std::optional(Representation::Log) : std::nullopt;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures x = logFeatures(operands[0], site);                                         // [T, m]
    Value unit = tiles.expand(operands[1]->tile(site), 0, tiles.shape(x.exponents));
    return {x.at(tiles, tiles.minus(x.exponents, unit))};
  }
};

/// 1 if an exponent of a column is above its unit by more than the headroom, else 0.
struct Rises : LogTerm {
  explicit Rises(double headroom) : headroom(headroom) {}
  StringRef name() const override { return "rises"; }
  void printParameters(raw_ostream &os) const override { os << " {headroom = " << headroom << '}'; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value exponents = operands[0]->tile(site), unit = operands[1]->tile(site);                      // [T, m], [m]
    Value bound = tiles.plus(unit, tiles.constant(tiles.shape(unit), headroom));
    Value excess = tiles.minus(tiles.reduceMax(exponents, 0), bound);                               // [m]
    return {tile::AnyOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), excess)};
  }
  double headroom;
};

/// The largest exponent of each row over the state's features, at least such that the guard is in range.
struct RowUnit : LogTerm {
  explicit RowUnit(attn::DenominatorAttr guard) : guard(guard) {}
  StringRef name() const override { return "row_unit"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value exponents = operands[0]->tile(site), unit = operands[1]->tile(site);                      // [T, m], [m]
    Value total = tiles.plus(exponents, tiles.expand(unit, 0, tiles.shape(exponents)));
    Value rows = tiles.reduceMax(total, 1);                                                         // [T]
    if (kernel::guarded(guard))
      rows = tiles.maximum(rows, tiles.constant(tiles.shape(rows), kernel::leastExponent(guard)));
    return {rows};
  }
  attn::DenominatorAttr guard;
};

/// The features of keys near the units of a state, 0 of those far below: the first band, with or without its offset.
struct NearUnit : LogTerm {
  NearUnit(int64_t bands, bool offset) : bands(bands), offset(offset) {}
  StringRef name() const override { return "near_unit"; }
  void printParameters(raw_ostream &os) const override { os << " {bands = " << bands << (offset ? ", offset}" : "}"); }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0 ? Representation::Log : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value unit = operands[1]->tile(site);                                                           // [m]
    Value b = kernel::firstBand(tiles, logFeatures(operands[0], site), unit, bands);                // [T, m]
    return {offset ? b : tiles.times(b, tiles.constant(tiles.shape(b), std::exp2(-kernel::stateOffset)))};
  }
  int64_t bands;
  bool offset;
};
} // namespace

terms::TermPtr terms::inUnit() { return std::make_unique<InUnit>(); }
terms::TermPtr terms::rises(double headroom) { return std::make_unique<Rises>(headroom); }
terms::TermPtr terms::rowUnit(attn::DenominatorAttr guard) { return std::make_unique<RowUnit>(guard); }
terms::TermPtr terms::nearUnit(int64_t bands, bool offset) { return std::make_unique<NearUnit>(bands, offset); }
