//===- ReadoutGradients.cpp - Cotangents of what a chunk reads and adds ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the readout u_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ v_j, w_i = Σ_{j ≤ i} ⟨a_i, b_j⟩, with p_ij = ⟨a_i, b_j⟩ and p̄_ij = ⟨ū_i, v_j⟩ + w̄_i within a chunk:
//
//   ā_i = S ū_i + w̄_i z + Σ_{j ≤ i} p̄_ij b_j          S, z: Σ b vᵀ, Σ b of the chunks before
//   b̄_j = R v_j + ζ + Σ_{i ≥ j} p̄_ij a_i              R, ζ: Σ a ūᵀ, Σ a w̄ of the chunks behind
//   v̄_j = Rᵀ b_j + Σ_{i ≥ j} p_ij ū_i
//
// With decay p and p̄ count 2^(d_i − d_j), what S gives counts 2^(d_i), and what R gives 2^(d − d_j): d_t is the sum over the chunk up to
// token t, d over all of it.
//
// Token t decays what every pair j < t ≤ i has in common. Of those the products c_ij = p_ij p̄_ij sum up to
//
//   ḡ_t = Σ_{j < t} Σ_{i > j} c_ij − Σ_{i < t} Σ_{j < i} c_ij = ⟨S, S̄⟩ + Σ_{j < t} (⟨b_j, b̄_j⟩ − ⟨a_j, ā_j⟩)        S: before the first token
//
// where ā and b̄ leave out the pairs of a token with itself: with strong decay nothing else would be left of either side. Sums from the end, which go
// down from ⟨S, S̄⟩ behind the last token, would have to take off again what that token adds to S and no token decays.
//
// Of a quotient o_i = u_i / w_i what reaches both comes from what ā is made of anyway and from p, w_i = ⟨a_i, z⟩ + Σ_{j ≤ i} p_ij and, with ū_i = ō_i / w_i,
// ⟨ū_i, u_i⟩ = ⟨a_i, S ū_i⟩ + Σ_{j ≤ i} p_ij ⟨ū_i, v_j⟩. Of pairs of a chunk numerators and denominators so have one rounding, and p̄ of a row of one key is 0 however
// much its product cancels.
//
// Features may lie in several tiles, each with its own rows of a state. States are read in f32, as forwards.
//
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"
#include "Terms.h"

#include "attune/Tile/Units.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
/// x Mᵀ + w s of what a state (M [m, dv], s [m]) … gives, times 2^d.
struct CarriedGradient : Term {
  CarriedGradient(bool divides, terms::Carried what, bool decays) : divides(divides), what(what), decays(decays) {}

  StringRef name() const override { return what == terms::Carried::Sum ? "carried_sum" : "carried_gradient"; }
  AxisSet ownAxes() const override { return what == terms::Carried::Sum ? setOf(Axis::Query) : AxisSet(); }
  bool hasMatrix() const { return what != terms::Carried::Sum; }
  std::optional<Representation> takes(unsigned operand) const override {
    unsigned last = 1u + hasMatrix() + (what == terms::Carried::Weighed);
    return decays && operand == last ? Representation::Log : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value x = hasMatrix() ? operands[0]->tile(site, f32) : Value(), kept;                           // [T, dv]
    int64_t rows = x ? tiles.shape(x)[0] : site[Axis::Query].count;
    if (decays)
      kept = tiles.exp2(operands.back()->tile(site));                                               // [T] or [T, m]
    SmallVector<Value, 3> state = operands[hasMatrix()]->tiles(site), result;
    for (size_t number = 0; number < state.size(); number += divides ? 2 : 1) {
      SmallVector<int64_t> shape{rows, tiles.shape(state[number])[0]};
      bool adds = divides && what != terms::Carried::Matrix;
      Value begin = adds ? tiles.expand(state[number + 1], 0, shape) : tiles.constant(shape, 0);    // [T, m]
      if (what == terms::Carried::Weighed)
        begin = tiles.times(begin, tiles.expand(operands[2]->tile(site, f32), 1, shape));
      Value sums = x ? tiles.dot(x, state[number], begin, false, /*transposeB=*/true) : begin;
      result.push_back(decays ? tile::rescaled(tiles, sums, kept) : sums);
    }
    return result;
  }

  bool divides;
  terms::Carried what;
  bool decays;
};

struct Ones : Term {
  StringRef name() const override { return "ones"; }
  AxisSet ownAxes() const override { return setOf({Axis::Query, Axis::Key}); }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources) const override {
    return {site.tiles().constant({site[Axis::Query].count, site[Axis::Key].count}, 1)};            // [Tq, Tk]
  }
};

struct PlusWeighed : Term {
  StringRef name() const override { return "plus_weighed"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value w = operands[2]->tile(site);                                                              // [T]
    SmallVector<Value, 3> sums = operands[0]->tiles(site);                                          // [T, m] each
    for (auto [sum, y] : llvm::zip_equal(sums, operands[1]->tiles(site, tiles.builder.getF32Type())))
      sum = tiles.plus(sum, tiles.times(y, tiles.expand(w, 1, tiles.shape(y))));
    return sums;
  }
};

/// begin + p x, or begin + pᵀ x, of each tile of x.
struct PairSums : Term {
  PairSums(bool wide, bool transposed) : wide(wide), transposed(transposed) {}

  StringRef name() const override { return "pair_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    SmallVector<Value, 3> result;
    for (auto [begin, x] : llvm::zip_equal(operands[0]->tiles(site), operands[2]->tiles(site, type))) // [T, m] each
      result.push_back(tiles.dot(operands[1]->tile(site, type), x, begin, transposed));
    return result;
  }

  bool wide, transposed;
};

/// Σ b R over the tiles of features, then pᵀ ū.
struct ValueReadoutGradient : Term {
  ValueReadoutGradient(bool wide, bool divides) : wide(wide), divides(divides) {}

  StringRef name() const override { return "value_readout_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type(), type = wide ? f32 : site.operand();
    Value u = operands[3]->tile(site, type), sums = tiles.constant(tiles.shape(u), 0);              // [T, dv]
    SmallVector<Value, 3> state = operands[1]->tiles(site);                                         // R [m, dv], …
    for (auto [number, b] : llvm::enumerate(operands[0]->tiles(site, f32)))                         // [T, m]
      sums = tiles.dot(b, state[(divides ? 2 : 1) * number], sums);
    return {tiles.dot(operands[2]->tile(site, type), u, sums, /*transposeA=*/true)};
  }

  bool wide, divides;
};

/// x plus what the pairs of a token with itself give.
struct WithOwnPairs : Term {
  StringRef name() const override { return "with_own_pairs"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value p = operands[1]->tile(site);                                                              // [T, T]
    Value own = tiles.reduceAdd(tiles.times(p, terms::diagonal(site, tiles.shape(p)[0])), 1);       // [T]
    SmallVector<Value, 3> result;
    for (auto [sums, x] : llvm::zip_equal(operands[0]->tiles(site), operands[2]->tiles(site, tiles.builder.getF32Type())))
      result.push_back(tiles.plus(sums, tiles.times(x, tiles.expand(own, 1, tiles.shape(x)))));
    return result;
  }
};

/// ⟨S, S'⟩ of each feature, or of all.
struct StateProducts : Term {
  StateProducts(bool divides, bool ofFeatures) : divides(divides), ofFeatures(ofFeatures) {}

  StringRef name() const override { return "state_products"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value, 3> x = operands[0]->tiles(site), y = operands[1]->tiles(site);
    Value all;
    for (size_t number = 0; number < x.size(); number += divides ? 2 : 1) {
      Value each = tiles.reduceAdd(tiles.times(x[number], y[number]), 1);                           // [m]
      if (divides)
        each = tiles.plus(each, tiles.times(x[number + 1], y[number + 1]));
      if (ofFeatures)
        return {each};
      Value sum = tiles.reduceAdd(tiles.expand(each, 0, {1, tiles.shape(each)[0]}), 1);             // [1]
      all = all ? tiles.plus(all, sum) : sum;
    }
    return {all};
  }

  bool divides, ofFeatures;
};

//===----------------------------------------------------------------------===//
// Sums over what stands before a token
//===----------------------------------------------------------------------===//

/// Σ_{i < t} x_i of the rows of a tile, with what those before it have left.
struct PrefixSums : Term {
  StringRef name() const override { return "prefix_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), before = operands[1]->tiles(site).front();                   // [T] or [T, m]; [1] or [m]
    SmallVector<int64_t> shape(tiles.shape(x)), square{shape[0], shape[0]};
    if (shape.size() == 2) {
      Value sums = tiles.exactDot(terms::upToRow(site, shape[0], -1), x, tiles.constant(shape, 0));  // [T, m]
      return {tiles.plus(sums, tiles.expand(before, 0, shape))};
    }
    Value earlier = tiles.mask(tiles.expand(x, 0, square), 0, {}, {}, tiles.index(-1));             // (t, i): x_i for i < t
    return {tiles.plus(tiles.reduceAdd(earlier, 1), tile::repeated(tiles, before, shape))};
  }
};

/// Σ_t of each operand: numbers of rows [T], or [T, m].
struct RowTotals : StreamedTerm {
  RowTotals(int64_t width, unsigned count) : width(width), count(count) {}

  StringRef name() const override { return "row_totals"; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {count, {width}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    TileBuilder &tiles = site.tiles();
    SmallVector<Value> next;
    for (auto [sum, operand] : llvm::zip_equal(sums, operands)) {
      Value x = operand->tile(site);                                                                // [T] or [T, m]
      Value total = tiles.shape(x).size() == 2 ? tiles.reduceAdd(x, 0) : tiles.reduceAdd(tiles.expand(x, 0, {1, tiles.shape(x)[0]}), 1);
      next.push_back(tiles.plus(sum, total));                                                       // [m] or [1]
    }
    return next;
  }

  int64_t width;
  unsigned count;
};
} // namespace

terms::TermPtr terms::carriedGradient(bool divides, Carried what, bool decays) { return std::make_unique<CarriedGradient>(divides, what, decays); }
terms::TermPtr terms::ones() { return std::make_unique<Ones>(); }
terms::TermPtr terms::plusWeighed() { return std::make_unique<PlusWeighed>(); }
terms::TermPtr terms::pairSums(bool wide, bool transposed) { return std::make_unique<PairSums>(wide, transposed); }
terms::TermPtr terms::valueReadoutGradient(bool wide, bool divides) { return std::make_unique<ValueReadoutGradient>(wide, divides); }
terms::TermPtr terms::withOwnPairs() { return std::make_unique<WithOwnPairs>(); }
terms::TermPtr terms::stateProducts(bool divides, bool ofFeatures) { return std::make_unique<StateProducts>(divides, ofFeatures); }
terms::TermPtr terms::prefixSums() { return std::make_unique<PrefixSums>(); }
terms::StreamedPtr terms::rowTotals(int64_t width, unsigned count) { return std::make_unique<RowTotals>(width, count); }
