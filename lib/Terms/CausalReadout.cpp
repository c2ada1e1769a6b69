//===- CausalReadout.cpp - States of features, and what causal queries read of them ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// c, num = a S + w v, den = a z + w 1 with a = 2^(Lq + M − c), of a state (M, z, S) and pairs (c, w).
struct CausalReadout : Term {
  explicit CausalReadout(bool offset) : offset(offset) {}

  StringRef name() const override { return "causal_readout"; }
  void printParameters(raw_ostream &os) const override {
    if (offset)
      os << " {offset}";
  }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 0   ? Representation::Log
           : operand >= 3 ? Representation::Plain
                          : Representation::Scaled;
  }
  Representation gives(Sources) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    kernel::LogFeatures q = logFeatures(operands[0], site);                                         // [T, m]
    Value v = operands[3]->tile(site, tiles.builder.getF32Type());                                  // [T, dv]
    SiteValue state = operands[1]->read(site), pairs = operands[2]->read(site);
    Value unit = state.tiles[0], z = state.tiles[1], S = state.tiles[2], c = pairs.tiles[0], w = pairs.tiles[1];
    SmallVector<int64_t> shape(tiles.shape(q.exponents));
    Value down = offset ? tiles.plus(c, tiles.constant(tiles.shape(c), kernel::stateOffset)) : c;   // [T]
    Value total = tiles.plus(q.exponents, tiles.expand(unit, 0, shape));
    Value a = q.at(tiles, tiles.minus(total, tiles.expand(down, 1, shape)));                        // [T, m]
    Value before = tiles.dot(a, S, tiles.constant({shape[0], tiles.shape(S)[1]}, 0));               // [T, dv]
    Value sumBefore = tiles.reduceAdd(tiles.times(a, tiles.expand(z, 0, shape)), 1);                // [T]
    Value counted = operands.size() > 4 ? tiles.times(w, tiles.expand(operands[4]->tile(site), 0, tiles.shape(w))) : w; // [T, T]
    return {c, tiles.plus(tiles.reduceAdd(counted, 1), sumBefore), tiles.dot(w, v, before)};
  }

  bool offset;
};

/// num / guard(den), both in units 2^c of each row.
struct NormalizeInUnit : Term {
  explicit NormalizeInUnit(attn::DenominatorAttr guard) : guard(guard) {}

  StringRef name() const override { return "normalize"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SiteValue read = operands[0]->read(site); // c, den, num
    return {kernel::normalizeInUnit(site.tiles(), guard, read.tiles[2], read.tiles[1], read.tiles[0])};
  }

  attn::DenominatorAttr guard;
};

/// M [m], z = Σ_j w_j b_j, S = Σ_j b_j v_jᵀ, of features b in units 2^M and exponents that say which units they need; w is 1 unless it is given.
struct StateSums : StreamedTerm {
  StateSums(int64_t features, int64_t width, bool wide, bool weighs) : features(features), width(width), wide(wide), weighs(weighs) {}

  StringRef name() const override { return "state"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 2 ? Representation::Log : Representation::Plain;
  }
  Representation gives() const override { return Representation::Scaled; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    return tile::RescaledSumAttr::get(context, tile::RescaledSumAttr::exp2);
  }
  std::optional<double> leastUnit() const override { return kernel::noLogarithm; }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override {
    return {{features}, {features}, {features, width}};
  }
  Value buildUnit(const TileSite &site, Sources operands) const override {
    return site.tiles().reduceMax(operands[2]->tile(site), 0);                                      // [m]
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    Value b = operands[0]->tile(site), v = operands[1]->tile(site, type);                           // [T, m], [T, dv]
    Value weighed = weighs ? tiles.times(b, tiles.expand(operands[3]->tile(site), 1, tiles.shape(b))) : b;
    Value sum = tiles.plus(sums[0], tiles.reduceAdd(weighed, 0));                                   // [m]
    return {sum, tiles.dot(tiles.cast(b, type), v, sums[1], /*transposeA=*/true)};
  }

  int64_t features, width;
  bool wide, weighs;
};
} // namespace

terms::TermPtr terms::causalReadout(bool offset) { return std::make_unique<CausalReadout>(offset); }
terms::TermPtr terms::normalizeInUnit(attn::DenominatorAttr guard) { return std::make_unique<NormalizeInUnit>(guard); }
terms::StreamedPtr terms::state(int64_t features, int64_t width, bool wide, bool weighs) {
  return std::make_unique<StateSums>(features, width, wide, weighs);
}
