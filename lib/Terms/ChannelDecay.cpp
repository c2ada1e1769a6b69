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
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"
#include "Terms.h"

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
    Value x = operands[0]->tile(site, f32), b = operands[1]->tile(site, f32);                       // [T, m] each
    Value g = inUnits(tiles, operands[2]->tile(site));                                              // [T, m]
    int64_t rows = tiles.shape(g)[0];
    SmallVector<int64_t> square{rows, rows};
    Value none = tiles.constant(square, 0), own = tiles.reduceAdd(tiles.times(x, b), 1);            // [T]
    Value w = tiles.times(tiles.expand(own, 1, square), terms::diagonal(site, rows));
    for (int64_t size = 1; size < rows; size *= 2) {
      Value exponents = tiles.exactDot(terms::betweenBorder(site, rows, size), g, tiles.constant(tiles.shape(g), 0));
      Value kept = tiles.exp2(exponents);                                                           // [T, m]
      Value a = tiles.times(x, kept), c = tiles.times(b, kept);
      Value part = exact ? tiles.exactDot(a, c, none, false, true)
                         : tiles.dot(tiles.cast(a, site.operand()), tiles.cast(c, site.operand()), none, false, true);
      w = tiles.plus(w, tiles.times(part, terms::belowPairs(site, rows, size)));
    }
    return {w};
  }

  bool exact;
};
} // namespace

terms::TermPtr terms::channelDecay(DecaySpan span) { return std::make_unique<ChannelDecay>(span); }
terms::TermPtr terms::decayedPairs(bool exact) { return std::make_unique<DecayedPairs>(exact); }
