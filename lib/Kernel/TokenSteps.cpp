//===- TokenSteps.cpp - RoPE and the normalisation of q and k in the load ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The mean of each row, for each of its entries.
static Value means(TileBuilder &tiles, Value x) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  SmallVector<int64_t> rows{shape[0]};
  Value mean = tiles.times(tiles.reduceAdd(x, 1), tiles.constant(rows, 1.0 / shape[1])); // [rows]
  return tiles.expand(mean, 1, shape);                                                   // [rows, width]
}

/// 1 / √(variance + ε) of centred rows: [rows].
static Value inverseDeviation(TileBuilder &tiles, Value centred, double epsilon) {
  SmallVector<int64_t> shape(tiles.shape(centred)), rows{shape[0]};
  Value variance = tiles.times(tiles.reduceAdd(tiles.times(centred, centred), 1), tiles.constant(rows, 1.0 / shape[1]));
  return tiles.over(tiles.constant(rows, 1), tiles.sqrt(tiles.plus(variance, tiles.constant(rows, epsilon))));
}

/// 1 / √(Σ x² + ε): [rows].
static Value inverseNorm(TileBuilder &tiles, Value x, double epsilon) {
  SmallVector<int64_t> rows{tiles.shape(x)[0]};
  Value squares = tiles.reduceAdd(tiles.times(x, x), 1);
  return tiles.over(tiles.constant(rows, 1), tiles.sqrt(tiles.plus(squares, tiles.constant(rows, epsilon))));
}

Value kernel::normalizeRows(TileBuilder &tiles, Value x, double epsilon) {
  Value centred = tiles.minus(x, means(tiles, x));                                       // [rows, width]
  return tiles.times(centred, tiles.expand(inverseDeviation(tiles, centred, epsilon), 1, tiles.shape(x)));
}

Value kernel::divideByNorm(TileBuilder &tiles, Value x, double epsilon) {
  return tiles.times(x, tiles.expand(inverseNorm(tiles, x, epsilon), 1, tiles.shape(x)));
}

Value kernel::normGradient(TileBuilder &tiles, Value x, Value cotangent, double epsilon, bool l2) {
  SmallVector<int64_t> shape(tiles.shape(x)), rows{shape[0]};
  Value centred = l2 ? x : tiles.minus(x, means(tiles, x));
  Value inverse = l2 ? inverseNorm(tiles, x, epsilon) : inverseDeviation(tiles, centred, epsilon);
  inverse = tiles.selectEqual(inverse, INFINITY, tiles.constant(rows, 0), inverse);      // a row of zeros without ε
  inverse = tiles.expand(inverse, 1, shape);                                             // [rows, width]
  Value y = tiles.times(centred, inverse), products = tiles.times(cotangent, y);
  Value along = l2 ? tiles.expand(tiles.reduceAdd(products, 1), 1, shape) : means(tiles, products);
  Value across = tiles.minus(cotangent, tiles.times(y, along));
  return tiles.times(l2 ? across : tiles.minus(across, means(tiles, cotangent)), inverse);
}

//===----------------------------------------------------------------------===//
// RoPE
//===----------------------------------------------------------------------===//

namespace {
/// A number as the sum of two f32: 48 bits of it.
struct Pair {
  SmallVector<float> high, low;
  void add(double number) {
    high.push_back(static_cast<float>(number));
    low.push_back(static_cast<float>(number - high.back()));
  }
};
} // namespace

/// The pair that column c belongs to: (2i, 2i + 1), or (i, i + d/2).
static int64_t pairOf(int64_t column, int64_t width, bool half) { return half ? column % (width / 2) : column / 2; }
static bool isSecond(int64_t column, int64_t width, bool half) { return half ? column >= width / 2 : column % 2 == 1; }

/// Turns of columns at each position, modulo whole ones: [rows, columns]. The product of a position and a frequency in
/// f32 loses what matters past a few thousand, so the frequency is a pair of f32 and whole turns are taken off early.
static Value turns(TileBuilder &tiles, Value positions, ColumnsOf of, int64_t columns, const TokenStep &step) {
  SmallVector<int64_t> shape{tiles.shape(positions)[0], columns};
  int64_t width = of.width;
  Pair frequency;
  for (int64_t c = of.first; c < of.first + columns; ++c)
    frequency.add(std::pow(step.number, -2.0 * pairOf(c, width, step.half) / width) / (2 * M_PI));
  Value high = tiles.expand(tiles.table(frequency.high), 0, shape);
  Value low = tiles.expand(tiles.table(frequency.low), 0, shape), p = tiles.expand(positions, 1, shape);
  Value product = tiles.times(p, high);
  Value rest = tiles.fma(p, high, tiles.negate(product)); // what rounding the product lost, exactly
  Value fraction = tiles.minus(product, tiles.roundEven(product));
  return tiles.plus(fraction, tiles.fma(p, low, rest));
}

Value kernel::rotate(TileBuilder &tiles, Value x, llvm::function_ref<Value()> partner, ColumnsOf of, Value positions,
                     const TokenStep &step) {
  SmallVector<int64_t> shape(tiles.shape(x));
  Value angle = turns(tiles, positions, of, shape[1], step);
  SmallVector<float> signs;
  for (int64_t c = of.first; c < of.first + shape[1]; ++c)
    signs.push_back(isSecond(c, of.width, step.half) != step.backwards ? 1.0f : -1.0f);
  Value other = partner();
  Value sine = tiles.times(tiles.sine(angle), tiles.expand(tiles.table(signs), 0, shape));
  return tiles.plus(tiles.times(x, tiles.cosine(angle)), tiles.times(other, sine));
}

Value kernel::rotate(TileBuilder &tiles, Value x, Value positions, const TokenStep &step) {
  auto partner = [&] { return step.half ? tiles.swapHalves(x) : tiles.swapPairs(x); };
  return rotate(tiles, x, partner, {0, tiles.shape(x)[1]}, positions, step);
}
