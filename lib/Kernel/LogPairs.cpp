//===- LogPairs.cpp - Causal weights of pairs from logarithms of features ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LogPairs.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The roots of keys are multiplied by 2^rootOffset, so that the exponents of sums of pairs reach down to −126 − rootOffset.
static constexpr double rootOffset = 96;
/// Above it a left factor is cut off; with the keys' 2^(bandWidth/2) it may pass the range for pairs that are not seen.
static constexpr double largestFactor = 120;
/// Weights of pairs that are seen stay far below.
static constexpr double largestWeight = 100;

/// Weights below the diagonal, 0 above, whatever is there.
static Value belowDiagonal(TileBuilder &tiles, Value weights) {
  return tiles.mask(weights, 0, Value(), Value(), tiles.index(0));
}

/// c [T]: about the largest exponent of each row's visible pairs, at least `noLogarithm`.
static Value rowScale(TileBuilder &tiles, Value queries, Value keys, Value maximum, double root) {
  SmallVector<int64_t> shape(tiles.shape(keys)), pairs{shape[0], shape[0]}, rows{shape[0]};
  Value part = tiles.constant(shape, 1 / root), top = tiles.expand(maximum, 0, shape);
  Value q = tiles.plus(queries, top);                                                             // [T, m]
  Value largest = tiles.reduceMax(q, 1);                                                          // [T]
  Value a = tiles.exp2(tiles.times(tiles.minus(q, tiles.expand(largest, 1, shape)), part));
  Value below = tiles.times(tiles.minus(keys, top), part);
  Value b = tiles.exp2(tiles.plus(below, tiles.constant(shape, rootOffset)));
  Value sums = belowDiagonal(tiles, tiles.dot(a, b, tiles.constant(pairs, 0), false, true));      // [T, T]
  // Of no visible pair in range the logarithm is −∞, and the bound stands.
  Value log = tiles.minus(tiles.log2(tiles.reduceMax(sums, 1)), tiles.constant(rows, rootOffset)); // [T]
  double slack = root * std::log2(static_cast<double>(shape[1])) / 2;
  Value c = tiles.minus(tiles.plus(tiles.times(log, tiles.constant(rows, root)), largest), tiles.constant(rows, slack));
  return tiles.maximum(c, tiles.constant(rows, noLogarithm));
}

/// The features of a band's keys: g 2^x for x above −bandWidth/2 and at most bandWidth/2, as far as the band has that end.
static Value bandFeatures(TileBuilder &tiles, const LogFeatures &keys, Value x, bool first, bool last) {
  using arith::CmpFPredicate;
  constexpr double bandWidth = attn::bandWidth;
  ArrayRef<int64_t> shape = tiles.shape(x);
  Value features = keys.at(tiles, x), none = tiles.constant(shape, 0);
  if (!first)
    features = tiles.select(tiles.compare(CmpFPredicate::OGT, x, tiles.constant(shape, bandWidth / 2)), none, features);
  if (!last)
    features = tiles.select(tiles.compare(CmpFPredicate::OGT, x, tiles.constant(shape, -bandWidth / 2)), features, none);
  return features;
}

static Value middleOf(TileBuilder &tiles, ArrayRef<int64_t> shape, int64_t band) {
  return tiles.constant(shape, (static_cast<double>(band) + 0.5) * attn::bandWidth);
}

Value kernel::firstBand(TileBuilder &tiles, const LogFeatures &keys, Value maximum, int64_t bands) {
  SmallVector<int64_t> shape(tiles.shape(keys.exponents));
  Value below = tiles.minus(keys.exponents, tiles.expand(maximum, 0, shape));
  return bandFeatures(tiles, keys, tiles.plus(below, middleOf(tiles, shape, 0)), true, bands == 1);   // [T, m]
}

Value kernel::unitOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum,
                          int64_t bands) {
  // The more the exponents span, the higher the root.
  double root = bands <= 2 ? 2 : bands <= 4 ? 4 : 8;
  Value scale = rowScale(tiles, queries.exponents, keys.exponents, maximum, root); // [T]
  // Where there are mantissas exponents are integers: so stay their differences.
  return queries.mantissas ? tiles.roundEven(scale) : scale;
}

/// Calls `add` with the features of queries and of keys, [Tq, m] and [Tk, m], of one band after another.
static void forEachBand(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum, Value scale, int64_t bands,
                        function_ref<void(Value a, Value b)> add) {
  SmallVector<int64_t> ofQueries(tiles.shape(queries.exponents)), ofKeys(tiles.shape(keys.exponents));
  Value q = tiles.minus(tiles.plus(queries.exponents, tiles.expand(maximum, 0, ofQueries)), tiles.expand(scale, 1, ofQueries));
  Value k = tiles.minus(keys.exponents, tiles.expand(maximum, 0, ofKeys));
  if (bands == 0) // no exponent is above 0
    return add(queries.at(tiles, q), keys.at(tiles, k));
  for (int64_t band = 0; band < bands; ++band) {
    Value b = bandFeatures(tiles, keys, tiles.plus(k, middleOf(tiles, ofKeys, band)), band == 0, band + 1 == bands); // [Tk, m]
    Value below = tiles.minimum(tiles.minus(q, middleOf(tiles, ofQueries, band)), tiles.constant(ofQueries, largestFactor));
    add(queries.at(tiles, below), b);                                                                // [Tq, m], [Tk, m]
  }
}

/// Σ over bands of a bᵀ [Tq, Tk].
static Value sumOfBands(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum, Value scale, int64_t bands) {
  Value weights = tiles.constant({tiles.shape(queries.exponents)[0], tiles.shape(keys.exponents)[0]}, 0);
  forEachBand(tiles, queries, keys, maximum, scale, bands, [&](Value a, Value b) { weights = tiles.dot(a, b, weights, false, true); });
  return weights;
}

/// Beyond the range of the tolerances a weight may be infinite; the output is finite.
static Value finite(TileBuilder &tiles, Value weights) {
  return tiles.minimum(weights, tiles.constant(tiles.shape(weights), std::exp2(largestWeight)));
}

Value kernel::productsOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum,
                              Value scale, int64_t bands) {
  return finite(tiles, sumOfBands(tiles, queries, keys, maximum, scale, bands));
}

Value kernel::weightsOfPairs(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum,
                             Value scale, int64_t bands) {
  return finite(tiles, belowDiagonal(tiles, sumOfBands(tiles, queries, keys, maximum, scale, bands)));
}

Value kernel::pairSumsOf(TileBuilder &tiles, const LogFeatures &queries, const LogFeatures &keys, Value maximum, Value scale,
                         int64_t bands, Value pairs, bool transposed) {
  SmallVector<int64_t> shape(tiles.shape((transposed ? keys : queries).exponents));
  Value sums, none = tiles.constant(shape, 0);
  forEachBand(tiles, queries, keys, maximum, scale, bands, [&](Value a, Value b) {
    Value others = tiles.dot(pairs, transposed ? a : b, none, transposed);                           // [Tq or Tk, m]
    // Of a key that is in another band, or does not exist, the sum over queries may be infinite.
    Value own = transposed ? tiles.selectEqual(b, 0, none, tiles.times(b, others)) : tiles.times(a, others);
    sums = sums ? tiles.plus(sums, own) : own;
  });
  return sums;
}
