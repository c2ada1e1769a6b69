//===- Decay.cpp - What is left of earlier entries --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys decay what came before them, so that entry j counts 2^(d_i − d_j) times at entry i, with d_t = Σ_{r ≤ t} g_r ≤ 0. Only such
// differences of j ≤ i are raised, never 2^(−d_j) alone, which overflows after two tokens of −50. Keys that do not exist have g = 0.
//
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"
#include "Terms.h"

#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using terms::DecaySpan;

StringRef terms::nameOf(DecaySpan span) {
  static constexpr StringLiteral names[] = {"between", "since", "until", "whole", "own"};
  return names[static_cast<unsigned>(span)];
}

/// How many keys exist from the first one of the tile on; null: at least as many as it has.
static Value existingKeys(const TileSite &site) {
  TileBuilder &tiles = site.tiles();
  const AxisRange &keys = site[Axis::Key];
  return keys.limit ? tiles.max(tiles.sub(keys.limit, keys.first), tiles.index(0)) : Value();
}

/// How many of them up to each row of an axis, counting itself unless `own` is 0; of rows before the tile any number that is not above 0.
static Value existingUpTo(const TileSite &site, Axis axis, int64_t own = 1) {
  TileBuilder &tiles = site.tiles();
  const AxisRange &keys = site[Axis::Key], &rows = site[axis];
  Value from = rows.first == keys.first ? tiles.index(own) : tiles.add(tiles.sub(rows.first, keys.first), tiles.index(own));
  Value count = tiles.iota(from, rows.count);                                                       // [T]
  Value all = existingKeys(site);
  return all ? tiles.minimum(count, tile::repeated(tiles, tiles.iota(all, 1), rows.count)) : count;
}

namespace {
/// g times the number of existing keys of a span, in units of log 2.
struct HeadDecay : Term {
  HeadDecay(DecaySpan span, int64_t features) : span(span), features(features) {}

  StringRef name() const override { return "head_decay"; }
  void printParameters(raw_ostream &os) const override { os << " {" << terms::nameOf(span) << '}'; }
  Representation gives(Sources) const override { return Representation::Log; }
  AxisSet ownAxes() const override {
    bool ofRows = span == DecaySpan::Between || span == DecaySpan::Since;
    return ofRows ? setOf({Axis::Query, Axis::Key}) : setOf(Axis::Key);
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value g = operands[0]->tile(site);                                                              // [1]
    g = tiles.times(g, tiles.constant({1}, M_LOG2E));
    Value count = span == DecaySpan::Between ? between(site) : this->count(site);                   // [Tq, Tk], [T] or [m]
    return {tiles.times(count, tile::repeated(tiles, g, tiles.shape(count)))};
  }

private:
  /// Between the key and the query of each pair; of a key behind its query 0.
  static Value between(const TileSite &site) {
    TileBuilder &tiles = site.tiles();
    SmallVector<int64_t> pairs{site[Axis::Query].count, site[Axis::Key].count};
    Value upToQuery = tiles.expand(existingUpTo(site, Axis::Query), 1, pairs);
    Value upToKey = tiles.expand(existingUpTo(site, Axis::Key), 0, pairs);
    return tiles.maximum(tiles.minus(upToQuery, upToKey), tiles.constant(pairs, 0));
  }
  Value count(const TileSite &site) const {
    TileBuilder &tiles = site.tiles();
    if (span == DecaySpan::Since)
      return existingUpTo(site, Axis::Query);                                                       // [T]
    int64_t rows = site[Axis::Key].count;
    if (span == DecaySpan::Own)
      return tiles.minus(existingUpTo(site, Axis::Key), existingUpTo(site, Axis::Key, /*own=*/0));  // [T]
    Value existing = existingKeys(site), all = existing ? tiles.min(tiles.index(rows), existing) : tiles.index(rows);
    all = tiles.iota(all, 1);                                                                       // [1]
    if (span == DecaySpan::Whole)
      return tile::repeated(tiles, all, features);                                                  // [m]
    return tiles.minus(tile::repeated(tiles, all, rows), existingUpTo(site, Axis::Key));            // [T]
  }

  DecaySpan span;
  int64_t features;
};

/// Sums of g_t over the tokens t of a span, in units of log 2. Differences of sums would lose digits where g is large.
struct TokenDecay : Term {
  TokenDecay(DecaySpan span, int64_t features) : span(span), features(features) {}

  StringRef name() const override { return "token_decay"; }
  void printParameters(raw_ostream &os) const override { os << " {" << terms::nameOf(span) << '}'; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value g = operands[0]->tile(site);                                                              // [T]
    int64_t rows = tiles.shape(g)[0];
    g = tiles.times(g, tiles.constant({rows}, M_LOG2E));
    if (span == DecaySpan::Own)
      return {g};
    if (span == DecaySpan::Whole)
      return {tiles.reduceAdd(tiles.expand(g, 0, {features, rows}), 1)};                            // [m]
    SmallVector<int64_t> square{rows, rows};
    auto lower = [&](Value tile, int64_t diagonal) { return tiles.mask(tile, 0, {}, {}, tiles.index(diagonal)); };
    if (span == DecaySpan::Since)
      return {tiles.reduceAdd(lower(tiles.expand(g, 0, square), 0), 1)};                            // g_t for t ≤ i
    Value later = lower(tiles.expand(g, 1, square), -1);                                            // (t, j): g_t for t > j
    if (span == DecaySpan::Until)
      return {tiles.reduceAdd(later, 0)};
    return {tiles.exactDot(terms::upToRow(site, rows), later, tiles.constant(square, 0))};                 // [T, T]
  }

  DecaySpan span;
  int64_t features;
};

/// x 2^e, of exponents for each entry or for each row.
struct Decayed : Term {
  StringRef name() const override { return "decayed"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand == 1 ? Representation::Log : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value kept = tiles.exp2(operands[1]->tile(site));                                               // [T, c] or [T]
    SmallVector<Value, 3> x = operands[0]->tiles(site, tiles.builder.getF32Type());                 // [T, c] each
    for (Value &tile : x)
      tile = tile::rescaled(tiles, tile, kept);
    return x;
  }
};

struct DecaySums : StreamedTerm {
  explicit DecaySums(int64_t features) : features(features) {}

  StringRef name() const override { return "decay_sums"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  Representation gives() const override { return Representation::Log; }
  tile::CarryAttrInterface carry(MLIRContext *context) const override { return tile::SumAttr::get(context); }
  SmallVector<SmallVector<int64_t>> stateShapes(const TileSite &) const override { return {{features}}; }
  SmallVector<Value> buildContribution(const TileSite &site, Sources operands, Value, ValueRange sums) const override {
    return {site.tiles().plus(sums[0], operands[0]->tile(site))};                                   // [m]
  }

  int64_t features;
};

struct Transition : Term {
  StringRef name() const override { return "transition"; }
  std::optional<Representation> takes(unsigned) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value kept = tiles.exp2(operands[0]->tile(site));                                               // [m]
    return {tiles.expand(kept, 1, {tiles.shape(kept)[0], 1})};
  }
};
} // namespace

terms::TermPtr terms::headDecay(DecaySpan span, int64_t features) { return std::make_unique<HeadDecay>(span, features); }
terms::TermPtr terms::tokenDecay(DecaySpan span, int64_t features) { return std::make_unique<TokenDecay>(span, features); }
terms::TermPtr terms::decayed() { return std::make_unique<Decayed>(); }
terms::StreamedPtr terms::decaySums(int64_t features) { return std::make_unique<DecaySums>(features); }
terms::TermPtr terms::transition() { return std::make_unique<Transition>(); }
