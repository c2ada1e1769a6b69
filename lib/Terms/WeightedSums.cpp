//===- WeightedSums.cpp - Sums over keys with weights as they are -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

static Type operandOf(const TileSite &site, bool wide) {
  return wide ? Type(Float32Type::get(site.operand().getContext())) : site.operand();
}

namespace {
struct WeightedSums : StreamedTerm {
  WeightedSums(ArrayRef<int64_t> widths, bool wide, bool withSums, bool decays)
      : widths(widths), wide(wide), withSums(withSums), decays(decays) {}

  StringRef name() const override { return "weighted_sums"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return decays && operand == widths.size() + 1 ? Representation::Log : Representation::Plain;
  }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    if (decays)
      return tile::AffineAttr::get(context, tile::Transition::Vector);
    return tile::SumAttr::get(context);
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &site) const override {
    int64_t rows = site[Axis::Query].count;
    SmallVector<SmallVector<int64_t>> shapes;
    for (int64_t width : widths)
      shapes.push_back({rows, width}); // num
    if (withSums)
      shapes.push_back({rows});        // den
    return shapes;
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type type = operandOf(site, wide);
    Value w = operands[0]->tile(site);                                                              // [Tq, Tk]
    Value kept = decays ? tiles.exp2(operands.back()->tile(site)) : Value();                        // [Tq]
    auto before = [&](Value sum) { return decays ? tile::rescaled(tiles, sum, kept) : sum; };
    SmallVector<Value> next;
    for (const Source &values : operands.slice(1, widths.size())) {
      Value v = values->tile(site, type);                                                           // [Tk, dv]
      next.push_back(tiles.dot(tiles.cast(w, type), v, before(sums[next.size()])));
    }
    if (withSums)
      next.push_back(tiles.plus(before(sums.back()), tiles.reduceAdd(w, 1)));
    return next;
  }

  SmallVector<int64_t> widths;
  bool wide, withSums, decays;
};

struct FeatureSums : StreamedTerm {
  FeatureSums(ArrayRef<int64_t> features, int64_t width, bool wide, bool withSums, bool decays, bool weighs)
      : features(features), width(width), wide(wide), withSums(withSums), decays(decays), weighs(weighs) {}

  StringRef name() const override { return "state"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return decays && operand == 2 ? Representation::Log : Representation::Plain;
  }
  tile::CarryAttrInterface carry(MLIRContext *context) const override {
    if (decays)
      return tile::AffineAttr::get(context, tile::Transition::Vector);
    return tile::SumAttr::get(context);
  }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override {
    SmallVector<SmallVector<int64_t>> shapes;
    for (int64_t count : features) {
      shapes.push_back({count, width}); // S
      if (withSums)
        shapes.push_back({count});      // z
    }
    return shapes;
  }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    Type type = operandOf(site, wide);
    SmallVector<Value, 3> b = operands[0]->tiles(site, type), exact;                                // [T, m] each
    if (withSums)
      exact = operands[0]->tiles(site, tiles.builder.getF32Type());
    for (Value &b : exact)
      if (weighs)
        b = tiles.times(b, tiles.expand(operands.back()->tile(site, tiles.builder.getF32Type()), 1, tiles.shape(b)));
    Value v = operands[1]->tile(site, type);                                                        // [T, dv]
    Value kept = decays ? tiles.exp2(operands[2]->tile(site)) : Value();                            // [m]
    auto before = [&](Value sum) { return decays ? tile::rescaled(tiles, sum, kept) : sum; };
    SmallVector<Value> next;
    for (unsigned i = 0; i < b.size(); ++i) {
      next.push_back(tiles.dot(b[i], v, before(sums[next.size()]), /*transposeA=*/true));
      if (withSums)
        next.push_back(tiles.plus(before(sums[next.size()]), tiles.reduceAdd(exact[i], 0)));
    }
    return next;
  }

  SmallVector<int64_t> features;
  int64_t width;
  bool wide, withSums, decays, weighs;
};

/// What a state gives enters the accumulator before the pairs do.
struct Readout : Term {
  Readout(bool wide, bool divides) : wide(wide), divides(divides) {}

  StringRef name() const override { return "readout"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = operandOf(site, wide);
    SmallVector<Value, 3> state = operands[1]->tiles(site), a = operands[0]->tiles(site);           // S [m, dv], z [m]
    // What the state gives comes first: it alone needs the features in f32, and registers are scarce.
    Value before, sumBefore;
    for (unsigned i = 0; i < a.size(); ++i) {
      Value matrix = state[(divides ? 2 : 1) * i];
      SmallVector<int64_t> shape(tiles.shape(a[i])), rows{shape[0], tiles.shape(matrix)[1]};
      before = tiles.dot(a[i], matrix, before ? before : tiles.constant(rows, 0));                  // [T, dv]
      if (!divides)
        continue;
      Value part = tiles.reduceAdd(tiles.times(a[i], tiles.expand(state[2 * i + 1], 0, shape)), 1); // [T]
      sumBefore = sumBefore ? tiles.plus(sumBefore, part) : part;
    }
    for (const Source &early : operands.drop_front(4))
      early->read(site);
    Value w = operands[2]->tile(site), v = operands[3]->tile(site, type);                           // [T, T], [T, dv]
    Value numerator = tiles.dot(tiles.cast(w, type), v, before);                                    // [T, dv]
    if (!divides)
      return {numerator};
    return {numerator, tiles.plus(tiles.reduceAdd(w, 1), sumBefore)};
  }

  bool wide, divides;
};

struct LowerTriangle : Term {
  StringRef name() const override { return "lower_triangle"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value w = operands[0]->tile(site), query = site[Axis::Query].first, key = site[Axis::Key].first; // [Tq, Tk]
    Value diagonal = query == key ? tiles.index(0) : tiles.sub(query, key);
    return {tiles.mask(w, 0, Value(), Value(), diagonal)};
  }
};

struct Normalize : Term {
  explicit Normalize(attn::DenominatorAttr guard) : guard(guard) {}

  StringRef name() const override { return "normalize"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    SiteValue sums = operands[0]->read(site); // num, den
    return {kernel::normalize(site.tiles(), guard, sums.tiles[0], sums.tiles[1])};
  }

  attn::DenominatorAttr guard;
};
} // namespace

terms::StreamedPtr terms::weightedSums(ArrayRef<int64_t> widths, bool wide, bool withSums, bool decays) {
  return std::make_unique<WeightedSums>(widths, wide, withSums, decays);
}
terms::StreamedPtr terms::featureSums(ArrayRef<int64_t> features, int64_t width, bool wide, bool withSums, bool decays, bool weighs) {
  return std::make_unique<FeatureSums>(features, width, wide, withSums, decays, weighs);
}
terms::TermPtr terms::readout(bool wide, bool divides) { return std::make_unique<Readout>(wide, divides); }
terms::TermPtr terms::lowerTriangle() { return std::make_unique<LowerTriangle>(); }
terms::TermPtr terms::normalize(attn::DenominatorAttr guard) { return std::make_unique<Normalize>(guard); }
