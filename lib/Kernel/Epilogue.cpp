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
// the load; in two dimensions rows whose neighbour would wrap around to another row of the image are cleared.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// The convolution of one tile of tokens.
struct Convolution {
  const Lepe &lepe;
  Value weight;        ///< [heads, dv, taps]
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
  Value column = tiles.load(at.weight, {at.head, tiles.index(0), tiles.index(tap)}, {at.width, 1});
  return tiles.reduceAdd(tiles.cast(column, tiles.builder.getF32Type()), 1);
}

/// v [rows, width] with 0 in the rows whose neighbour δx lies in another row of the image.
static Value clearWrapped(TileBuilder &tiles, const Convolution &at, Value v, int64_t deltaX) {
  if (!at.column || deltaX == 0)
    return v;
  SmallVector<int64_t> shape{at.rows, at.width};
  // δx = −1 is outside in column 0, δx = 1 in the last column.
  double edge = deltaX < 0 ? 0 : *at.lepe.columns - 1;
  Value outside = tiles.compare(arith::CmpFPredicate::OEQ, tiles.expand(at.column, 1, shape), tiles.constant(shape, edge));
  return tiles.select(outside, tiles.constant(shape, 0), v);
}

/// w_tap ⊙ v_{t + shift}: [rows, width].
static Value tapProduct(TileBuilder &tiles, const Convolution &at, int64_t tap, int64_t shift) {
  Value first = shift == 0 ? at.first : tiles.add(at.first, tiles.index(shift));
  Value v = at.value.load(tiles, first, at.rows, at.limit, shift < 0 ? tiles.index(0) : Value()); // [rows, width]
  Value weights = tiles.expand(tapWeights(tiles, at, tap), 0, {at.rows, at.width});
  return tiles.times(tiles.cast(v, tiles.builder.getF32Type()), weights);
}

/// The three taps of a column of an image are summed first, as the same rows have no neighbour there.
static Value convolve(TileBuilder &tiles, const Convolution &at, Value o) {
  if (!at.lepe.columns) {
    for (int64_t delta : {-1, 0, 1})
      o = tiles.plus(o, tapProduct(tiles, at, delta + 1, delta));
    return o;
  }
  for (int64_t deltaX : {-1, 0, 1}) {
    Value sum;
    for (int64_t deltaY : {-1, 0, 1}) {
      Value product = tapProduct(tiles, at, (deltaY + 1) * 3 + deltaX + 1, *at.lepe.columns * deltaY + deltaX);
      sum = sum ? tiles.plus(sum, product) : product;
    }
    o = tiles.plus(o, clearWrapped(tiles, at, sum, deltaX));
  }
  return o;
}

/// t mod columns of the tokens first … : [rows].
static Value columnsOf(TileBuilder &tiles, Value first, int64_t rows, int64_t columns) {
  // Of the first token the remainder is taken as an index: tokens of a long sequence would be inexact in f32.
  Value start = arith::RemUIOp::create(tiles.builder, tiles.loc, first, tiles.index(columns));
  Value token = tiles.iota(start, rows);
  return tiles.minus(token, tiles.times(floorDivide(tiles, token, columns), tiles.constant({rows}, columns)));
}

/// The memory with the last two dimensions of weight [heads, dv, 3, 3] as one.
static Value flatTaps(TileBuilder &tiles, Value weight) {
  if (cast<MemRefType>(weight.getType()).getRank() == 3)
    return weight;
  SmallVector<ReassociationIndices> groups{{0}, {1}, {2, 3}};
  return memref::CollapseShapeOp::create(tiles.builder, tiles.loc, weight, groups);
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
  Convolution at{lepe,  flatTaps(tiles, frame[lepe.weight]), point.head, value, first, limit, column, rows,
                 lepe.value.width};
  if (lepe.bias) {
    Value bias = tiles.load(frame[lepe.bias], {point.head, tiles.index(0)}, lepe.value.width); // [dv]
    o = tiles.plus(o, tiles.expand(tiles.cast(bias, tiles.builder.getF32Type()), 0, {rows, at.width}));
  }
  return convolve(tiles, at, o);
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
