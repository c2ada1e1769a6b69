//===- Epilogue.cpp - What happens to an output before it is stored ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   LePE, one dimension:         L(v)_t = Σ_{δ ∈ −1, 0, 1} w[:, δ + 1] ⊙ v_{t+δ}
//   LePE, an image of C columns: L(v)_t = Σ_{δy, δx ∈ −1, 0, 1} w[:, δy + 1, δx + 1] ⊙ v_{t + C δy + δx}
//
// The rows v_{t+δ} are a load that begins δ earlier or later. Rows outside the sequence, the image or the window are zero in
// the load; in two dimensions a tap is not added where the neighbour would wrap around to another row of the image.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"
#include "Taps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// The convolution of one tile of tokens.
struct Convolution {
  const Lepe &lepe;
  Value weight;        ///< [heads, dv, taps]; packed [heads, taps, dv]
  bool packed;
  Value head;          ///< of the part
  TokenReader value;
  Value first;         ///< token of row 0
  Value limit;         ///< tokens at or past it are 0; null: those past the end
  Value column;        ///< of each token in its image [rows]; null in one dimension
  int64_t rows, width; ///< of the tile
};
} // namespace

/// The weights of one tap of every channel: [width].
static Value tapWeights(TileBuilder &tiles, const Convolution &at, int64_t tap) {
  if (at.packed)
    return tiles.load(at.weight, {at.head, tiles.index(tap), tiles.index(0)}, at.width);
  return weightsOfTap(tiles, at.weight, at.head, tap);
}

/// Whether the neighbour δx of each token lies in another row of the image: i1 [rows, width].
static Value isOutside(TileBuilder &tiles, const Convolution &at, int64_t deltaX) {
  SmallVector<int64_t> shape{at.rows, at.width};
  // δx = −1 is outside in column 0, δx = 1 in the last column.
  double edge = deltaX < 0 ? 0 : *at.lepe.columns - 1;
  return tiles.compare(arith::CmpFPredicate::OEQ, tiles.expand(at.column, 1, shape), tiles.constant(shape, edge));
}

/// w_tap ⊙ v_{t + shift}: [rows, width].
static Value tapProduct(TileBuilder &tiles, const Convolution &at, int64_t tap, int64_t shift) {
  Value first = shift == 0 ? at.first : tiles.add(at.first, tiles.index(shift));
  Value v = at.value.load(tiles, first, at.rows, at.limit, shift < 0 ? tiles.index(0) : Value()); // [rows, width]
  Value weights = tiles.expand(tapWeights(tiles, at, tap), 0, {at.rows, at.width});
  return tiles.times(tiles.cast(v, tiles.builder.getF32Type()), weights);
}

/// sum + w_tap ⊙ v_{t + shift}; of no sum the product.
static Value addTap(TileBuilder &tiles, const Convolution &at, Value sum, int64_t tap, int64_t shift) {
  Value product = tapProduct(tiles, at, tap, shift);
  return sum ? tiles.plus(sum, product) : product;
}

/// L(v), added to `sum` if there is one. Of an image the tokens of an edge leave the three taps of a column out as one.
static Value convolve(TileBuilder &tiles, const Convolution &at, Value sum) {
  if (!at.lepe.columns) {
    for (int64_t delta : {-1, 0, 1})
      sum = addTap(tiles, at, sum, delta + 1, delta);
    return sum;
  }
  for (int64_t deltaX : {0, -1, 1}) {
    Value before = sum;
    for (int64_t deltaY : {-1, 0, 1})
      sum = addTap(tiles, at, sum, (deltaY + 1) * 3 + deltaX + 1, *at.lepe.columns * deltaY + deltaX);
    if (deltaX != 0)
      sum = tiles.select(isOutside(tiles, at, deltaX), before, sum);
  }
  return sum;
}

Value kernel::columnsOf(TileBuilder &tiles, Value first, int64_t rows, int64_t columns) {
  // Of the first token the remainder is taken as an index: tokens of a long sequence would be inexact in f32.
  Value start = arith::RemUIOp::create(tiles.builder, tiles.loc, first, tiles.index(columns));
  Value token = tiles.iota(start, rows);
  return tiles.minus(token, tiles.times(floorDivide(tiles, token, columns), tiles.constant({rows}, columns)));
}

static Value addConvolution(TileBuilder &tiles, const KernelFrame &frame, Problem problem, Point point, Value first,
                            Value o) {
  const Lepe &lepe = *problem.output.lepe;
  // A window whose neighbours are not cut off is no window to the convolution; then rows of the tile must be consecutive.
  if (problem.window && !lepe.inWindow) {
    first = tiles.add(point.origin, first);
    problem.window = attn::WindowAttr();
    point.window = point.origin = Value();
  }
  int64_t rows = tiles.shape(o)[0];
  Problem keys = problem;
  keys.key = lepe.value, keys.lengths = lepe.lengths;
  Value limit = lepe.lengths ? keyLimit(frame, tiles, keys, point) : Value();
  TokenReader value(tiles, frame, problem, lepe.value, point, problem.heads());
  Value column = lepe.columns ? columnsOf(tiles, first, rows, *lepe.columns) : Value();
  Value weight = lepe.packed ? frame[lepe.weight] : flatTaps(tiles, frame[lepe.weight]);
  Convolution at{lepe, weight, lepe.packed, point.head, value, first, limit, column, rows, lepe.value.width};
  Value bias;
  if (lepe.bias) {
    bias = tiles.load(frame[lepe.bias], {point.head, tiles.index(0)}, lepe.value.width); // [dv]
    bias = tiles.expand(tiles.cast(bias, tiles.builder.getF32Type()), 0, {rows, at.width});
  }
  return tiles.plus(o, convolve(tiles, at, bias));
}

Value kernel::finishOutput(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                           Value first, Value o) {
  return problem.output.lepe ? addConvolution(tiles, frame, problem, point, first, o) : o;
}

void kernel::storeOutput(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                         Value first, Value o, Value limit) {
  o = finishOutput(tiles, frame, problem, point, first, o);
  Value head = point.head;
  if (problem.output.firstHead)
    head = tiles.add(head, tiles.index(problem.output.firstHead));
  storeRows(tiles, problem, point, o, frame[problem.output.memory], head, first, limit);
}
