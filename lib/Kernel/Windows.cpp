//===- Windows.cpp - Grid points, windows, and who sees whom -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window is a view, not a copy: the batch axis of the grid counts (batch entry, window) pairs, rows are counted from the
// window's first token, and the loads find the rows in memory. In one dimension the rows of a window are consecutive; a
// tile of an image has `columns` of them, then skips to the next row of the image.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"
#include "attune/Tile/WindowTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

int64_t Problem::queryTile() const {
  return window ? tile::windowTile(window.getLength(), schedule.getQueryTile()) : schedule.getQueryTile();
}
int64_t Problem::keyTile() const {
  return window ? tile::windowTile(window.getLength(), schedule.getKeyTile()) : schedule.getKeyTile();
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

static Value remainder(TileBuilder &tiles, Value a, Value b) {
  return arith::RemUIOp::create(tiles.builder, tiles.loc, a, b);
}

/// Windows of a sequence of n tokens.
static Value windowCount(TileBuilder &tiles, const Problem &problem, Value memory) {
  if (problem.window.isGrid())
    return tiles.index(problem.window.getGridRows() * problem.window.getGridColumns() / problem.window.getLength());
  return tiles.div(tokenCount(tiles, memory), problem.window.getLength());
}

Value kernel::queryCount(TileBuilder &tiles, const Problem &problem, Value queryMemory) {
  return problem.window ? tiles.index(problem.window.getLength()) : tokenCount(tiles, queryMemory);
}
Value kernel::keyCount(TileBuilder &tiles, const Problem &problem, Value keyMemory) {
  return queryCount(tiles, problem, keyMemory);
}

Value kernel::batchAxis(TileBuilder &host, const Problem &problem) {
  Value memory = problem.query ? problem.query.memory : problem.key.memory;
  Value batch = host.dim(memory, 0);
  if (!problem.window)
    return batch;
  return arith::MulIOp::create(host.builder, host.loc, batch, windowCount(host, problem, memory));
}

SmallVector<Value> kernel::queryGrid(BuildSite &site, const Problem &problem) {
  TileBuilder host(site.host, site.loc);
  Value blocks = host.ceilDiv(queryCount(host, problem, problem.query.memory), problem.queryTile());
  return {batchAxis(host, problem), host.index(problem.heads()), blocks};
}

/// The memory row of the first token of a window.
static Value originOf(TileBuilder &tiles, attn::WindowAttr window, Value number) {
  if (!window.isGrid())
    return tiles.mul(number, window.getLength());
  int64_t across = window.getGridColumns() / window.getColumns();
  Value row = tiles.mul(tiles.div(number, across), window.getRows() * window.getGridColumns());
  Value column = tiles.mul(remainder(tiles, number, tiles.index(across)), window.getColumns());
  return tiles.add(row, column);
}

Point kernel::gridPoint(KernelFrame &frame, const Problem &problem) {
  TileBuilder &tiles = frame.tiles;
  Point point;
  point.batch = tiles.programId(tile::Axis::Batch);
  if (frame.kernel.getGridPosition(tile::Axis::Head))
    point.head = tiles.programId(tile::Axis::Head);
  if (!problem.window)
    return point;
  Value count = windowCount(tiles, problem, frame[problem.query ? problem.query.memory : problem.key.memory]);
  point.window = remainder(tiles, point.batch, count);
  point.batch = arith::DivUIOp::create(tiles.builder, tiles.loc, point.batch, count);
  point.origin = originOf(tiles, problem.window, point.window);
  return point;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// How a load or store finds the rows of a window: the index of the token dimension, and the bounds of `tile.load`.
struct RowPlace {
  Value index;
  TileBuilder::Rows rows;
};
} // namespace

static RowPlace placeOf(TileBuilder &tiles, const Problem &problem, const Point &point, Value first, Value lower,
                        Value limit) {
  if (!problem.window)
    return {first, {lower, limit, Value(), 0, 0}};
  if (!limit)
    limit = tiles.index(problem.window.getLength());
  if (problem.window.isGrid())
    return {point.origin, {lower, limit, first, problem.window.getColumns(), problem.window.getGridColumns()}};
  auto absolute = [&](Value row) { return row ? tiles.add(point.origin, row) : row; };
  return {absolute(first), {absolute(lower), absolute(limit), Value(), 0, 0}};
}

Value kernel::loadRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value memory, Value head,
                       Value first, ArrayRef<int64_t> shape, Value limit, Value lower, int64_t column) {
  RowPlace place = placeOf(tiles, problem, point, first, lower, limit);
  return tiles.load(memory, {point.batch, head, place.index, tiles.index(column)}, shape, place.rows);
}

Value kernel::loadInputRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value memory, Value first,
                            Value column, ArrayRef<int64_t> shape, Value limit) {
  RowPlace place = placeOf(tiles, problem, point, first, Value(), limit);
  return tiles.load(memory, {point.batch, place.index, column}, shape, place.rows);
}

void kernel::storeRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value tile, Value memory,
                       Value head, Value first, Value limit) {
  RowPlace place = placeOf(tiles, problem, point, first, Value(), limit);
  tiles.store(tile, memory, {point.batch, head, place.index, tiles.index(0)}, place.rows);
}

void kernel::storeModelRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value tile, Value memory,
                            Value first) {
  RowPlace place = placeOf(tiles, problem, point, first, Value(), Value());
  tiles.store(tile, memory, {point.batch, place.index, tiles.index(0)}, place.rows);
}

/// x [1] as [rows].
static Value repeat(TileBuilder &tiles, Value x, int64_t rows) {
  return tiles.reduceAdd(tiles.expand(x, 1, {1, rows}), 0);
}

// (x + ½) / divisor is never so near a whole number that rounding crosses it.
Value kernel::floorDivide(TileBuilder &tiles, Value x, int64_t divisor) {
  ArrayRef<int64_t> shape = tiles.shape(x);
  Value half = tiles.constant(shape, 0.5);
  Value quotient = tiles.times(tiles.plus(x, half), tiles.constant(shape, 1.0 / divisor));
  return tiles.roundEven(tiles.minus(quotient, half));
}

Value kernel::positions(TileBuilder &tiles, const Problem &problem, const Point &point, Value first, int64_t rows) {
  if (!problem.window)
    return tiles.iota(first, rows);
  if (!problem.window.isGrid())
    return tiles.iota(tiles.add(point.origin, first), rows);
  // Row r of a window of c columns stands in the image at origin + ⌊r / c⌋ (stride − c) + r.
  Value row = tiles.iota(first, rows);
  Value skipped = tiles.times(floorDivide(tiles, row, problem.window.getColumns()),
                              tiles.constant({rows}, problem.window.getGridColumns() - problem.window.getColumns()));
  return tiles.plus(tiles.plus(repeat(tiles, tiles.iota(point.origin, 1), rows), skipped), row);
}

//===----------------------------------------------------------------------===//
// Who sees whom
//===----------------------------------------------------------------------===//

/// How many tokens of the window stand below row `length` of the memory: a prefix, as tokens keep their order.
static Value tokensBelow(TileBuilder &tiles, attn::WindowAttr window, Value origin, Value length) {
  Value left = tiles.max(tiles.sub(length, origin), tiles.index(0));
  if (!window.isGrid())
    return tiles.min(left, tiles.index(window.getLength()));
  Value stride = tiles.index(window.getGridColumns());
  Value rows = arith::DivUIOp::create(tiles.builder, tiles.loc, left, stride);
  Value inLast = tiles.min(remainder(tiles, left, stride), tiles.index(window.getColumns()));
  return tiles.min(tiles.add(tiles.mul(rows, window.getColumns()), inLast), tiles.index(window.getLength()));
}

Value kernel::lengthOf(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, Value batch, Value count) {
  Value length = memref::LoadOp::create(tiles.builder, tiles.loc, frame[problem.lengths], batch);
  length = arith::IndexCastOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), length);
  return tiles.min(tiles.max(length, tiles.index(0)), count);
}

Value kernel::keyLimit(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, const Point &point) {
  if (!problem.lengths)
    return keyCount(tiles, problem, frame[problem.key.memory]);
  Value length = lengthOf(frame, tiles, problem, point.batch, tokenCount(tiles, frame[problem.key.memory]));
  return problem.window ? tokensBelow(tiles, problem.window, point.origin, length) : length;
}

VisibleKeys kernel::visibleKeys(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem,
                                const Point &point, Value firstQuery) {
  VisibleKeys keys;
  keys.limit = keyLimit(frame, tiles, problem, point);
  if (!problem.causal) {
    keys.full = tiles.roundDown(keys.limit, problem.keyTile());
    keys.last = keys.limit;
    return keys;
  }
  // Query i sees keys j ≤ i + N − n.
  Value queries = queryCount(tiles, problem, frame[problem.query.memory]);
  Value offset = tiles.sub(keyCount(tiles, problem, frame[problem.key.memory]), queries);
  keys.diagonal = tiles.add(firstQuery, offset);
  Value seenByAll = tiles.min(tiles.add(keys.diagonal, tiles.index(1)), keys.limit);
  keys.full = tiles.roundDown(seenByAll, problem.keyTile());
  Value end = tiles.min(tiles.add(firstQuery, tiles.index(problem.queryTile())), queries);
  keys.last = tiles.min(tiles.add(end, offset), keys.limit);
  return keys;
}

Value kernel::maskKeys(TileBuilder &tiles, const VisibleKeys &visible, Value weights, Value firstKey, double fill) {
  Value left = tiles.sub(visible.limit, firstKey);
  Value diagonal = visible.diagonal ? tiles.sub(visible.diagonal, firstKey) : Value();
  return tiles.mask(weights, fill, Value(), left, diagonal);
}
