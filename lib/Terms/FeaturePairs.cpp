//===- FeaturePairs.cpp - Attention over features, pair by pair -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of weights w_ij = ⟨a_i, b_j⟩ over their sums g_i, lse_i = ln g_i. Where features are exponents a b / g of a pair that is seen is at most 1 and has
// the bands of LogPairs.h; lse stands in the place of the row's unit.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// ln g, and where the floor holds g back just the logarithm of that, which says so to others.
static Value logarithmOf(TileBuilder &tiles, Value log2, Value held, attn::DenominatorAttr guard) {
  ArrayRef<int64_t> rows = tiles.shape(log2);
  Value logarithm = tiles.times(log2, tiles.constant(rows, M_LN2));
  return held ? tiles.select(held, tiles.constant(rows, std::log(guard.getFloor())), logarithm) : logarithm;
}

namespace {
struct GuardedTerm : Term {
  explicit GuardedTerm(attn::DenominatorAttr guard) : guard(guard) {}

  void printParameters(raw_ostream &os) const override { os << " {guard = " << guard << '}'; }

  attn::DenominatorAttr guard;
};

struct LogDivisor : GuardedTerm {
  using GuardedTerm::GuardedTerm;

  StringRef name() const override { return "log_divisor"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value denominator = operands[0]->tile(site);                                                    // [Tq]
    Value c = tiles.constant(tiles.shape(denominator), 0);
    kernel::GuardedInUnit guarded = kernel::guardInUnit(tiles, guard, denominator, c);
    return {logarithmOf(tiles, tiles.log2(guarded.divisor), guarded.held, guard)};
  }
};

/// Of (c, den, num).
struct LogDivisorInUnit : LogDivisor {
  using LogDivisor::LogDivisor;

  std::optional<Representation> takes(unsigned) const override { return Representation::Scaled; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    SiteValue sums = operands[0]->read(site);
    Value c = sums.tiles[0];                                                                        // [Tq]
    kernel::GuardedInUnit guarded = kernel::guardInUnit(tiles, guard, sums.tiles[1], c);
    return {logarithmOf(tiles, tiles.plus(c, tiles.log2(guarded.divisor)), guarded.held, guard)};
  }
};

/// −δ, 0 where lse is that of the floor, or of nothing.
struct LogDivisorGradient : GuardedTerm {
  using GuardedTerm::GuardedTerm;

  StringRef name() const override { return "log_divisor_gradient"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value delta = operands[0]->tile(site), lse = operands[1]->tile(site);                           // [Tq] each
    ArrayRef<int64_t> rows = tiles.shape(delta);
    Value zero = tiles.constant(rows, 0), gradient = tiles.negate(delta);
    if (guard.getFloor() != 0) {
      Value held = tiles.compare(arith::CmpFPredicate::OLE, lse, tiles.constant(rows, std::log(guard.getFloor())));
      gradient = tiles.select(held, zero, gradient);
    }
    return {tiles.selectEqual(lse, -INFINITY, zero, gradient)};
  }
};

/// lse to base 2, +∞ of rows without weights: then shares 2^−unit are 0.
struct RowsUnit : Term {
  StringRef name() const override { return "unit_of_lse"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value lse = operands[0]->tile(site);                                                            // [Tq]
    ArrayRef<int64_t> rows = tiles.shape(lse);
    return {tiles.selectEqual(lse, -INFINITY, tiles.constant(rows, INFINITY), tiles.times(lse, tiles.constant(rows, M_LOG2E)))};
  }
};

/// Rows times 2^−unit.
struct SharesOfRows : Term {
  StringRef name() const override { return "shares_of_rows"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Value x = operands[0]->tile(site), share = tiles.exp2(tiles.negate(operands[1]->tile(site)));   // [Tq, …], [Tq]
    return {tiles.times(x, tiles.expand(share, 1, tiles.shape(x)))};
  }
};

/// Of (Lq, Lk, R, unit), with R the largest exponents of the keys.
struct LogPairTerm : Term {
  explicit LogPairTerm(int64_t bands) : bands(bands) {}

  void printParameters(raw_ostream &os) const override {
    if (bands > 0)
      os << " {bands = " << bands << '}';
  }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 2 ? Representation::Log : Representation::Plain;
  }

  int64_t bands;
};

/// w / g.
struct LogPairWeights : LogPairTerm {
  using LogPairTerm::LogPairTerm;

  StringRef name() const override { return "log_pair_weights"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [Tq, m], [Tk, m]
    return {kernel::productsOfPairs(site.tiles(), q, k, operands[2]->tile(site), operands[3]->tile(site), bands)};
  }
};

/// And p̄ [Tq, Tk]: Σ a b / g p̄ of each row of queries, or of keys.
struct LogPairSums : LogPairTerm {
  LogPairSums(int64_t bands, bool ofKeys) : LogPairTerm(bands), ofKeys(ofKeys) {}

  StringRef name() const override { return ofKeys ? "log_key_sums" : "log_query_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [Tq, m], [Tk, m]
    Value pairs = operands[4]->tile(site, site.tiles().builder.getF32Type());                       // [Tq, Tk]
    return {kernel::pairSumsOf(site.tiles(), q, k, operands[2]->tile(site), operands[3]->tile(site), bands, pairs, ofKeys)};
  }

  bool ofKeys;
};

/// The same of numbers, (a / g, b, p̄).
struct FeatureSums : Term {
  explicit FeatureSums(bool ofKeys) : ofKeys(ofKeys) {}

  StringRef name() const override { return ofKeys ? "key_feature_sums" : "query_feature_sums"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    Value a = operands[0]->tile(site, f32), b = operands[1]->tile(site, f32), pairs = operands[2]->tile(site, f32);
    Value own = ofKeys ? b : a, other = ofKeys ? a : b;                                             // [Tq, m], [Tk, m]
    return {tiles.times(own, tiles.dot(pairs, other, tiles.constant(tiles.shape(own), 0), /*transposeA=*/ofKeys))};
  }

  bool ofKeys;
};

/// (w / g, ō): Σ_i w_ij / g_i ō_i.
struct ValueShares : Term {
  explicit ValueShares(bool wide) : wide(wide) {}

  StringRef name() const override { return "value_shares"; }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type type = wide ? Type(tiles.builder.getF32Type()) : site.operand();
    Value w = operands[0]->tile(site, type), given = operands[1]->tile(site, type);                 // [Tq, Tk], [Tq, dv]
    Value none = tiles.constant({tiles.shape(w)[1], tiles.shape(given)[1]}, 0);
    return {tiles.dot(w, given, none, /*transposeA=*/true)};                                        // [Tk, dv]
  }

  bool wide;
};
} // namespace

terms::TermPtr terms::logDivisor(attn::DenominatorAttr guard) { return std::make_unique<LogDivisor>(guard); }
terms::TermPtr terms::logDivisorInUnit(attn::DenominatorAttr guard) { return std::make_unique<LogDivisorInUnit>(guard); }
terms::TermPtr terms::logDivisorGradient(attn::DenominatorAttr guard) { return std::make_unique<LogDivisorGradient>(guard); }
terms::TermPtr terms::unitOfLse() { return std::make_unique<RowsUnit>(); }
terms::TermPtr terms::sharesOfRows() { return std::make_unique<SharesOfRows>(); }
terms::TermPtr terms::logPairWeights(int64_t bands) { return std::make_unique<LogPairWeights>(bands); }
terms::TermPtr terms::logPairSums(int64_t bands, bool ofKeys) { return std::make_unique<LogPairSums>(bands, ofKeys); }
terms::TermPtr terms::featureSums(bool ofKeys) { return std::make_unique<FeatureSums>(ofKeys); }
terms::TermPtr terms::valueShares(bool wide) { return std::make_unique<ValueShares>(wide); }
