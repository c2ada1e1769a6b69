//===- ChannelDecay.cpp - What is left of earlier entries, feature by feature ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where every feature decays in its own way, the decay of a pair stands inside its sum over features:
//
//   w_ij = Σ_f x_if b_jf 2^(d_if − d_jf)  for j ≤ i,   d_tf = Σ_{r ≤ t} g_rf ≤ 0
//
// 2^(−d_j) alone overflows. Rows and columns are halved instead: below the diagonal every pair (i, j) stands in the lower and the
// upper one of two neighboring blocks of 1, 2, 4, … rows, and with c the last token of the upper block
//
//   2^(d_i − d_j) = 2^(d_i − d_c) 2^(d_c − d_j)
//
// of which neither exponent is above 0, and neither factor below the product. So each size of blocks has one product of rows times
// columns, and a row has one exponent a feature in it. They are sums of g between two tokens: differences of d would lose digits.
//
// Where no feature of the chunk decays to less than 2^−60 both factors are numbers of f32, c before the chunk: one product of x 2^d and
// b 2^(−d). What lies above the diagonal then is as large as 2^60, and is masked. The exponents have errors of 2^−20 at most, as they
// have in any form that raises d_i. A CPU asks in each chunk; a GPU's kernels have no branches.
//
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"
#include "Terms.h"
#include "UsualDecay.h"

#include "attune/Tile/Units.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;
using terms::DecaySpan;

static Value inUnits(TileBuilder &tiles, Value g) { return tiles.times(g, tiles.constant(tiles.shape(g), M_LOG2E)); }

namespace {
struct ChannelDecay : Term {
  explicit ChannelDecay(DecaySpan span) : span(span) {}

  StringRef name() const override { return "channel_decay"; }
  void printParameters(raw_ostream &os) const override { os << " {" << terms::nameOf(span) << '}'; }
  Representation gives(Sources) const override { return Representation::Log; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value g = inUnits(tiles, operands[0]->tile(site));                                              // [T, m]
    int64_t rows = tiles.shape(g)[0];
    if (span == DecaySpan::Own)
      return {g};
    if (span == DecaySpan::Whole)
      return {tiles.reduceAdd(g, 0)};                                                               // [m]
    Value none = tiles.constant(tiles.shape(g), 0);
    if (span == DecaySpan::Since)
      return {tiles.exactDot(terms::upToRow(site, rows), g, none)};                                  // g_t for t ≤ i
    return {tiles.exactDot(terms::upToRow(site, rows, -1), g, none, /*transposeA=*/true)};              // g_t for t > j
  }

  DecaySpan span;
};

struct DecayedPairs : Term {
  explicit DecayedPairs(bool exact) : exact(exact) {}

  StringRef name() const override { return "decayed_pairs"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Chunk chunk{operands[0]->tile(site, f32), operands[1]->tile(site, f32), inUnits(tiles, operands[2]->tile(site))};
    int64_t rows = tiles.shape(chunk.g)[0];
    Value none = tiles.constant({rows, rows}, 0);
    if (rows == 1 || site.schedule().getTarget() == tile::TargetKind::GPU)
      return {byBlocks(tiles, site, chunk, none)};
    Value since = tiles.exactDot(terms::upToRow(site, rows), chunk.g, tiles.constant(tiles.shape(chunk.g), 0)); // [T, m]
    Value before = tiles.exp2(since);
    auto usual = [&](TileBuilder &inner, SmallVector<Value, 3> w) { return SmallVector<Value, 3>{atOnce(inner, site, chunk, since, before, w[0])}; };
    auto always = [&](TileBuilder &inner, SmallVector<Value, 3> w) { return SmallVector<Value, 3>{byBlocks(inner, site, chunk, w[0])}; };
    return terms::usuallyAtOnce(tiles, since, {none}, usual, always, tiles.sums());
  }

private:
  /// [T, m] each, g in units of log 2.
  struct Chunk {
    Value x, b, g;
  };

  Value product(TileBuilder &tiles, const TileSite &site, Value a, Value c, Value w) const {
    return exact ? tiles.exactDot(a, c, w, false, true)
                 : tiles.dot(tiles.cast(a, site.operand()), tiles.cast(c, site.operand()), w, false, true);
  }

  Value atOnce(TileBuilder &tiles, const TileSite &site, const Chunk &chunk, Value since, Value before, Value w) const {
    Value after = tiles.exp2(tiles.minus(tiles.constant(tiles.shape(since), 0), since));            // [T, m]
    w = product(tiles, site, tiles.times(chunk.x, before), tiles.times(chunk.b, after), w);
    return tiles.mask(w, 0, {}, {}, tiles.index(0));
  }

  Value byBlocks(TileBuilder &tiles, const TileSite &site, const Chunk &chunk, Value w) const {
    int64_t rows = tiles.shape(chunk.g)[0];
    SmallVector<int64_t> square{rows, rows};
    Value none = tiles.constant(square, 0), own = tiles.reduceAdd(tiles.times(chunk.x, chunk.b), 1); // [T]
    w = tiles.plus(w, tiles.times(tiles.expand(own, 1, square), terms::diagonal(site, rows)));
    for (int64_t size = 1; size < rows; size *= 2) {
      Value exponents = tiles.exactDot(terms::betweenBorder(site, rows, size), chunk.g, tiles.constant(tiles.shape(chunk.g), 0));
      Value kept = tiles.exp2(exponents);                                                           // [T, m]
      Value part = product(tiles, site, tiles.times(chunk.x, kept), tiles.times(chunk.b, kept), none);
      w = tiles.plus(w, tiles.times(part, terms::belowPairs(site, rows, size)));
    }
    return w;
  }

  bool exact;
};

/// Sums over the pairs of a chunk where every feature decays in its own way, block by block as the pairs themselves.
struct DecayedPairSums : Term {
  DecayedPairSums(bool transposed, bool exact) : transposed(transposed), exact(exact) {}

  StringRef name() const override { return "decayed_pair_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value begin = operands[0]->tile(site), p = operands[1]->tile(site);                             // [T, m], [T, T]
    Value y = operands[2]->tile(site, tiles.builder.getF32Type()), g = inUnits(tiles, operands[3]->tile(site)); // [T, m]
    int64_t rows = tiles.shape(g)[0];
    if (rows == 1)
      return {begin};
    auto always = [&](TileBuilder &inner, SmallVector<Value, 3> sums) { return SmallVector<Value, 3>{byBlocks(inner, site, p, y, g, sums[0])}; };
    if (site.schedule().getTarget() == tile::TargetKind::GPU)
      return always(tiles, {begin});
    Value none = tiles.constant(tiles.shape(g), 0), since = tiles.exactDot(terms::upToRow(site, rows), g, none);
    Value below = tiles.mask(p, 0, {}, {}, tiles.index(-1));
    auto usual = [&](TileBuilder &inner, SmallVector<Value, 3> sums) {
      Value up = inner.exp2(since), down = inner.exp2(inner.minus(none, since));                    // [T, m]
      Value part = product(inner, site, below, inner.times(y, transposed ? up : down), none);
      return SmallVector<Value, 3>{inner.plus(sums[0], inner.times(part, transposed ? down : up))};
    };
    return terms::usuallyAtOnce(tiles, since, {begin}, usual, always, tiles.sums());
  }

private:
  Value product(TileBuilder &tiles, const TileSite &site, Value p, Value y, Value sums) const {
    if (exact)
      return tiles.exactDot(p, y, sums, transposed);
    return tiles.dot(tiles.cast(p, site.operand()), tiles.cast(y, site.operand()), sums, transposed);
  }

  Value byBlocks(TileBuilder &tiles, const TileSite &site, Value p, Value y, Value g, Value sums) const {
    Value none = tiles.constant(tiles.shape(g), 0);
    int64_t rows = tiles.shape(g)[0];
    for (int64_t size = 1; size < rows; size *= 2) {
      Value kept = tiles.exp2(tiles.exactDot(terms::betweenBorder(site, rows, size), g, none));     // [T, m]
      Value part = product(tiles, site, tiles.times(p, terms::belowPairs(site, rows, size)), tiles.times(y, kept), none);
      sums = tiles.plus(sums, tiles.times(part, kept));
    }
    return sums;
  }

  bool transposed, exact;
};
} // namespace

terms::TermPtr terms::channelDecay(DecaySpan span) { return std::make_unique<ChannelDecay>(span); }
terms::TermPtr terms::decayedPairs(bool exact) { return std::make_unique<DecayedPairs>(exact); }
terms::TermPtr terms::decayedPairSums(bool transposed, bool exact) { return std::make_unique<DecayedPairSums>(transposed, exact); }
