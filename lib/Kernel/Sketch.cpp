//===- Sketch.cpp - Sketches of tokens ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   matrix:  parallel over (head)                       M [rows, r] = sign_i · (−1)^popcount(i & index_c)
//   largest: parallel over (batch, head)                K = max_j |k_j|
//   sketch:  parallel over (batch, head, token block)   S = the root of the tree over x̂ (SketchTree.h) · |x|^p'
//
// The token is divided by its norm before the products and multiplied by a power of the norm after them: a sketch of degree
// p' is homogeneous, and the products of a tree overflow before their result does. From p' = 8 on that power overflows
// too, so keys are taken in the unit K; weights are relative to the largest of their row anyway (Power.h). If causal a later
// key would set the unit of earlier rows, which have units of their own instead (SketchUnit.h).
//
//===----------------------------------------------------------------------===//
#include "Sketch.h"

#include "KernelFrame.h"
#include "Power.h"
#include "SketchTree.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

void kernel::buildSketchMatrix(BuildSite &site, const Problem &problem, Value sign, Value index, Value matrix) {
  auto type = cast<MemRefType>(matrix.getType());
  int64_t rows = type.getDimSize(1), columns = type.getDimSize(2);
  KernelFrame frame(site, problem, "matrix", {tile::Axis::Head}, {sign, index, matrix});
  TileBuilder &tiles = frame.tiles;
  Value head = tiles.programId(tile::Axis::Head), c0 = tiles.index(0);
  SmallVector<int64_t> shape{rows, columns};
  Value places = tiles.expand(tiles.iotaIntegers(c0, rows), 1, shape);                                     // [rows, r]
  Value chosen = tiles.expand(tiles.load(frame[index], {head, c0}, columns), 0, shape);                    // [rows, r]
  Value signs = tiles.cast(tiles.load(frame[sign], {head, c0}, rows), tiles.builder.getF32Type());         // [rows]
  Value entries = tiles.times(tiles.hadamard(places, chosen), tiles.expand(signs, 1, shape));              // [rows, r]
  tiles.store(entries, frame[matrix], {head, c0, c0});
  TileBuilder host(site.host, site.loc);
  frame.finish(site, host.index(type.getDimSize(0)));
}

Value kernel::buildLargestNorm(BuildSite &site, const Problem &problem) {
  TileBuilder host(site.host, site.loc);
  Value batch = host.dim(problem.key.memory, 0);
  Value result = site.workspace({ShapedType::kDynamic, problem.heads()}, batch);
  KernelFrame frame(site, problem, "largest", {tile::Axis::Batch, tile::Axis::Head},
                    hostValues({&problem.key}, {problem.lengths, result}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value limit = keyLimit(frame, tiles, problem, point);
  int64_t rows = problem.keyTile();
  TokenReader key(tiles, frame, problem, problem.key, point, problem.heads());
  auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
    Value k = inner.cast(key.load(inner, first, rows, limit), inner.builder.getF32Type());               // [Tk, d]
    Value norms = inner.sqrt(inner.reduceAdd(inner.times(k, k), 1));                                     // [Tk]
    return {inner.maximum(carried[0], inner.reduceMax(inner.expand(norms, 0, {1, rows}), 1))};           // [1]
  };
  Value largest = loop(tiles, tiles.maxima(), tiles.index(0), limit, rows, tiles.constant({1}, 0), step)[0];
  // A null key has no direction: any unit will do.
  tiles.store(tiles.maximum(largest, tiles.constant({1}, 0x1p-120)), frame[result], {point.batch, point.head});
  frame.finish(site, {batch, host.index(problem.heads())});
  return result;
}

Value kernel::largestNorm(TileBuilder &tiles, Value largest, const Point &point, int64_t rows) {
  Value one = tiles.load(largest, {point.batch, point.head}, 1);                                           // [1]
  return tiles.reduceAdd(tiles.expand(one, 1, {1, rows}), 0);                                              // [T]
}

static void finishSketch(BuildSite &site, const Problem &problem, KernelFrame &frame, const Sketched &result) {
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query.memory, 0), host.index(result.tokens.heads),
                      result.grid.count(host, host.dim(problem.query.memory, 2))});
}

/// s [T, r] as [r, T], by a product with the identity.
static Value transposed(TileBuilder &tiles, Value s) {
  int64_t rows = tiles.shape(s)[0], size = tiles.shape(s)[1];
  SmallVector<int64_t> square{size, size};
  Value places = tiles.iota(tiles.index(0), size);                                                         // [r]
  Value apart = tiles.minus(tiles.expand(places, 0, square), tiles.expand(places, 1, square));             // [r, r]
  Value one = tiles.selectEqual(apart, 0, tiles.constant(square, 1), tiles.constant(square, 0));           // [r, r]
  return tiles.dot(one, s, tiles.constant({size, rows}, 0), false, /*transposeB=*/true);
}

/// Rows past the end of the block have a tile of their own; null if there are none.
static Value endOfRows(TileBuilder &tiles, const Sketched &result) {
  return result.grid.even() ? Value() : result.grid.blockEnd(tiles, tiles.programId(tile::Axis::QueryBlock));
}

/// Entries past the end of a memory are dropped: of a sketch that follows itself only half is kept.
static void storeSketch(TileBuilder &tiles, const KernelFrame &frame, const Sketched &result, const Point &point,
                        Value first, Value s) {
  Value memory = frame[result.tokens.memory], c0 = tiles.index(0), number = tiles.programId(tile::Axis::QueryBlock);
  Value end = endOfRows(tiles, result);
  tiles.store(s, memory, {point.batch, point.head, first, c0}, end);
  if (!result.columns)
    return;
  if (int64_t size = tiles.shape(s)[1]; size > 1) // of windows that pass the end
    tiles.store(s, memory, {point.batch, point.head, first, tiles.index(size)}, end);
  tiles.store(transposed(tiles, s), frame[result.columns], {point.batch, point.head, number, c0, c0});
}

void kernel::buildSketch(BuildSite &site, const Problem &problem, const SketchMatrices &matrices, double scale,
                         const Sketched &result) {
  SmallVector<Value> values =
      hostValues({&problem.query}, {result.tokens.memory, result.columns, result.lengths, result.largest});
  llvm::append_range(values, matrices.leaves);
  llvm::append_range(values, matrices.nodes);
  KernelFrame frame(site, problem, "sketch", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock}, values);
  TileBuilder &tiles = frame.tiles;
  int64_t rows = result.grid.rows, degree = matrices.leaves.size(), heads = result.tokens.heads;
  Point point{tiles.programId(tile::Axis::Batch), tiles.programId(tile::Axis::Head), {}, {}};
  Value first = result.grid.first(tiles, tiles.programId(tile::Axis::QueryBlock));
  TokenReader reader(tiles, frame, problem, problem.query, point, heads);
  Value x = tiles.cast(reader.load(tiles, first, rows), tiles.builder.getF32Type());                       // [T, d]
  SmallVector<int64_t> shape(tiles.shape(x));
  Value norm = sketchLength(tiles, x, hasPairs(matrices));                                                 // [T]
  Value unit = tiles.maximum(norm, tiles.constant({rows}, 0x1p-120));                                      // [T]
  // Divided by it, not multiplied by its inverse: one channel gives ±1 exactly.
  Value s = sketchTree(tiles, frame, matrices, point.head, tiles.over(x, tiles.expand(unit, 1, shape)));         // [T, r]
  Value length = tiles.times(norm, tiles.constant({rows}, scale));                                         // [T]
  if (result.largest) {
    Value k = largestNorm(tiles, frame[result.largest], point, rows);                                      // [T]
    length = result.lengths ? tiles.times(length, k) : tiles.over(length, k);
  }
  if (result.lengths) {
    tiles.store(length, frame[result.lengths], {point.batch, point.head, first}, endOfRows(tiles, result));
  } else if (!result.running) {
    Value size = tiles.minimum(evenPower(tiles, length, degree), tiles.constant({rows}, 0x1p120));         // [T]
    s = tiles.times(s, tiles.expand(size, 1, tiles.shape(s)));
  }
  storeSketch(tiles, frame, result, point, first, s);
  finishSketch(site, problem, frame, result);
}
