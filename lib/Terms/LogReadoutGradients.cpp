//===- LogReadoutGradients.cpp - Cotangents of features that are exponents ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of o_i = u_i / g_i with u_i = Σ_{j ≤ i} ⟨a_i, b_j⟩ v_j and g_i = Σ_{j ≤ i} ⟨a_i, b_j⟩, from ō_i. Features are
// a = 2^(Lq − c) in the unit c of their row and b = 2^Lk; products a b of pairs that are seen are at most about g,
// whatever Lq and Lk are, and so are these sums of them:
//
//   δ_i = ⟨ō_i, o_i⟩ = Σ_{j ≤ i} ⟨a_i, b_j⟩ / g_i ⟨ō_i, v_j⟩,   p̄_ij = (⟨ō_i, v_j⟩ − δ_i) / g_i
//   a_i ⊙ ā_i = Σ_{j ≤ i} (a_i ⊙ b_j) p̄_ij        b_j ⊙ b̄_j = Σ_{i ≥ j} (a_i ⊙ b_j) p̄_ij
//   v̄_j = Σ_{i ≥ j} ⟨a_i, b_j⟩ ō_i / g_i
//
// Of a row that sees one key p̄ is 0 without rounding; δ is taken as 0 where a floor holds g back. They are what reaches
// the logarithms of a and b. Of keys before the chunk the pass over queries has a state (M, z, S) in units 2^M, so that
// a 2^M is read with it; of queries behind it the pass over keys has (M, ζ, R), the sums of 2^(Lq − c − M) (−δ, ō) / g,
// and reads it with 2^(Lk + M), which is at most about g as every query behind sees the key.
//
// Where keys enter with shares, pairs and states have them: w_j b_j is in the place of b_j. b_j ⊙ b̄_j is that of the logarithm of either, and Σ_f of
// it without the share is the share's own cotangent.
//
// Pairs of a chunk are cut into bands (LogPairs.h). Without bands, of steady chunks, one product has them: no exponent of
// the keys, or Lq − c of the queries, is above the state's unit by more than a headroom.
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

#include "LogSource.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

namespace {
struct LogReadoutGradient : Term {
  explicit LogReadoutGradient(int64_t bands) : bands(bands) {}

  void printParameters(raw_ostream &os) const override {
    if (bands > 0)
      os << " {bands = " << bands << '}';
  }
  /// Of pairs j ≤ i, 0 above.
  static Value visible(TileBuilder &tiles, Value pairs) { return tiles.mask(pairs, 0, Value(), Value(), tiles.index(0)); }
  /// x yᵀ.
  static Value products(TileBuilder &tiles, Value x, Value y) {
    return tiles.dot(x, y, tiles.constant({tiles.shape(x)[0], tiles.shape(y)[0]}, 0), false, /*transposeB=*/true);
  }
  /// 1 / g, 0 of 0.
  static Value inverseOf(TileBuilder &tiles, Value divisor) {
    ArrayRef<int64_t> rows = tiles.shape(divisor);
    return tiles.selectEqual(divisor, 0, tiles.constant(rows, 0), tiles.over(tiles.constant(rows, 1), divisor));
  }

  /// 2^(L + M) of units M [m], and less c of each row if there is one.
  static Value above(TileBuilder &tiles, const kernel::LogFeatures &x, Value unit, Value c = Value()) {
    ArrayRef<int64_t> shape = tiles.shape(x.exponents);
    Value total = tiles.plus(x.exponents, tiles.expand(unit, 0, shape));
    return x.at(tiles, c ? tiles.minus(total, tiles.expand(c, 1, shape)) : total);
  }

  /// The shares of keys along an axis of a shape; null: there is no such operand.
  static Value sharesAt(const TileSite &site, Sources operands, size_t operand, int64_t axis, ArrayRef<int64_t> shape) {
    return operand < operands.size() ? site.tiles().expand(operands[operand]->tile(site), axis, shape) : Value();
  }

  int64_t bands; ///< 0: of a steady chunk
};

/// (Lq, Lk or 2^(Lk − M), state, pairs (c, w), v, ō, unit of the pairs if there are bands[, shares]): a ⊙ ā [T, m], of each row g, δ and c, and the
/// share of the state in a ⊙ ā.
struct LogQueryGradient : LogReadoutGradient {
  LogQueryGradient(attn::DenominatorAttr guard, int64_t bands) : LogReadoutGradient(bands), guard(guard) {}

  StringRef name() const override { return "log_query_gradient"; }
  std::optional<Representation> takes(unsigned operand) const override {
    if (operand == 0 || (operand == 1 && bands > 0))
      return Representation::Log;
    return operand == 2 || operand == 3 ? Representation::Scaled : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    kernel::LogFeatures q = logFeatures(operands[0], site);                                         // [T, m]
    SiteValue state = operands[2]->read(site), pairs = operands[3]->read(site);
    Value v = operands[4]->tile(site, f32), given = operands[5]->tile(site, f32);                   // [T, dv] each
    Value unit = state.tiles[0], z = state.tiles[1], S = state.tiles[2], c = pairs.tiles[0], w = pairs.tiles[1];
    SmallVector<int64_t> shape(tiles.shape(q.exponents)), square(tiles.shape(w));
    Value shares = sharesAt(site, operands, bands > 0 ? 7 : 6, 0, square);                          // [T, T]
    if (shares)
      w = tiles.times(w, shares);
    Value a = above(tiles, q, unit, c), sums = tiles.expand(z, 0, shape);                           // [T, m] each
    Value denominator = tiles.plus(tiles.reduceAdd(w, 1), tiles.reduceAdd(tiles.times(a, sums), 1)); // [T]
    kernel::GuardedInUnit guarded = kernel::guardInUnit(tiles, guard, denominator, c);
    Value divisor = guarded.divisor, inverse = inverseOf(tiles, divisor);                           // [T]
    Value before = products(tiles, given, S), ofPairs = visible(tiles, products(tiles, given, v));  // [T, m], [T, T]
    Value delta = deltaOf(tiles, guarded, tiles.reduceAdd(tiles.times(a, before), 1), w, ofPairs);  // [T]
    before = tiles.minus(before, tiles.times(sums, tiles.expand(delta, 1, shape)));
    ofPairs = visible(tiles, tiles.minus(ofPairs, tiles.expand(delta, 1, square)));
    if (shares)
      ofPairs = tiles.times(ofPairs, shares);
    Value share = tiles.expand(inverse, 1, shape);
    if (bands == 0)
      return {tiles.times(tiles.times(a, share), tiles.dot(ofPairs, operands[1]->tile(site), before)), divisor, delta, c};
    Value inside = kernel::pairSumsOf(tiles, q, logFeatures(operands[1], site), operands[6]->tile(site), c, bands, ofPairs, /*transposed=*/false);
    Value ofState = tiles.times(a, before);
    return {tiles.times(tiles.plus(ofState, inside), share), divisor, delta, c, tiles.times(ofState, share)};
  }

private:
  /// Of what the state gives to ⟨ō, u⟩, weights w and ⟨ō, v⟩ of pairs: w / g is 1 where there is one key.
  static Value deltaOf(TileBuilder &tiles, const kernel::GuardedInUnit &guarded, Value ofState, Value w, Value ofPairs) {
    Value divisor = guarded.divisor, zero = tiles.constant(tiles.shape(divisor), 0);
    Value weights = tiles.over(w, tiles.expand(divisor, 1, tiles.shape(w)));                        // [T, T]
    Value delta = tiles.plus(tiles.over(ofState, divisor), tiles.reduceAdd(tiles.times(weights, ofPairs), 1));
    if (guarded.held)
      delta = tiles.select(guarded.held, zero, delta);
    return tiles.selectEqual(divisor, 0, zero, delta);
  }

  attn::DenominatorAttr guard;
};

/// (Lq − c, Lk, state of the queries behind, ō, δ, g, v[, shares]): b ⊙ b̄ [T, m], v̄ [T, dv], the share of the state in b ⊙ b̄ and, of shares, w̄ [T].
struct LogKeyGradient : LogReadoutGradient {
  using LogReadoutGradient::LogReadoutGradient;

  StringRef name() const override { return "log_key_gradient"; }
  std::optional<Representation> takes(unsigned operand) const override {
    return operand < 2 ? Representation::Log : operand == 2 ? Representation::Scaled : Representation::Plain;
  }
  SmallVector<Value, 3> buildTile(const TileSite &site, Sources operands) const override {
    TileBuilder &tiles = site.tiles();
    Type f32 = tiles.builder.getF32Type();
    kernel::LogFeatures q = logFeatures(operands[0], site), k = logFeatures(operands[1], site);     // [T, m] each
    SiteValue state = operands[2]->read(site);
    Value unit = state.tiles[0], sums = state.tiles[1], R = state.tiles[2];                         // [m], [m], [m, dv]
    Value given = operands[3]->tile(site, f32), delta = operands[4]->tile(site), divisor = operands[5]->tile(site);
    Value v = operands[6]->tile(site, f32), inverse = inverseOf(tiles, divisor);                    // [T, dv], [T]
    SmallVector<int64_t> shape(tiles.shape(k.exponents)), square{shape[0], shape[0]};
    Value b = above(tiles, k, unit);                                                                // [T, m]
    Value behind = tiles.dot(v, R, tiles.expand(sums, 0, shape), false, /*transposeB=*/true);       // [T, m]
    Value ofValues = tiles.dot(b, R, tiles.constant({shape[0], tiles.shape(R)[1]}, 0));             // [T, dv]
    Value ofPairs = tiles.minus(products(tiles, given, v), tiles.expand(delta, 1, square));
    ofPairs = visible(tiles, tiles.times(ofPairs, tiles.expand(inverse, 1, square)));               // [T, T]
    Value u = tiles.times(given, tiles.expand(inverse, 1, tiles.shape(given)));                     // ō / g [T, dv]
    Value ofState = tiles.times(b, behind);                                                         // [T, m]
    if (bands == 0) {
      Value a = q.at(tiles, tiles.minus(q.exponents, tiles.expand(unit, 0, shape)));                // [T, m]
      Value w = visible(tiles, products(tiles, a, b));                                              // [T, T]
      return written(site, operands, tiles.times(b, tiles.dot(ofPairs, a, behind, /*transposeA=*/true)),
                     tiles.dot(w, u, ofValues, /*transposeA=*/true), ofState);
    }
    Value maximum = tiles.maximum(tiles.reduceMax(k.exponents, 0), tiles.constant({shape[1]}, kernel::noLogarithm)); // [m]
    Value scale = tiles.constant({shape[0]}, 0), w = kernel::weightsOfPairs(tiles, q, k, maximum, scale, bands);
    Value inside = kernel::pairSumsOf(tiles, q, k, maximum, scale, bands, ofPairs, /*transposed=*/true);
    return written(site, operands, tiles.plus(ofState, inside), tiles.dot(w, u, ofValues, /*transposeA=*/true), ofState);
  }

private:
  /// The results from those of keys that enter as they are.
  static SmallVector<Value, 3> written(const TileSite &site, Sources operands, Value ofKeys, Value ofValues, Value ofState) {
    TileBuilder &tiles = site.tiles();
    Value ofRows = sharesAt(site, operands, 7, 1, tiles.shape(ofKeys)), ofColumns = sharesAt(site, operands, 7, 1, tiles.shape(ofValues));
    if (!ofRows)
      return {ofKeys, ofValues, ofState};
    return {tiles.times(ofKeys, ofRows), tiles.times(ofValues, ofColumns), tiles.times(ofState, ofRows), tiles.reduceAdd(ofKeys, 1)};
  }
};
} // namespace

terms::TermPtr terms::logQueryGradient(attn::DenominatorAttr guard, int64_t bands) { return std::make_unique<LogQueryGradient>(guard, bands); }
terms::TermPtr terms::logKeyGradient(int64_t bands) { return std::make_unique<LogKeyGradient>(bands); }
