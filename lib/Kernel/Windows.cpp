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
#include "WindowView.h"
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

Value kernel::windowCount(TileBuilder &tiles, attn::WindowAttr window, Value memory) {
  if (window.isGrid())
    return tiles.index(window.getGridRows() * window.getGridColumns() / window.getLength());
  return tiles.div(tokenCount(tiles, memory), window.getLength());
}

Value kernel::queryCount(TileBuilder &tiles, const Problem &problem, Value queryMemory) {
  return problem.window ? tiles.index(problem.window.getLength()) : tokenCount(tiles, queryMemory);
}
Value kernel::keyCount(TileBuilder &tiles, const Problem &problem, Value keyMemory) {
  return queryCount(tiles, problem, keyMemory);
}

Value kernel::originOf(TileBuilder &tiles, attn::WindowAttr window, Value number) {
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
  Value count = windowCount(tiles, problem.window, frame[problem.query ? problem.query.memory : problem.key.memory]);
  point.window = remainder(tiles, point.batch, count);
  point.batch = arith::DivUIOp::create(tiles.builder, tiles.loc, point.batch, count);
  point.origin = originOf(tiles, problem.window, point.window);
  return point;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RowPlace kernel::placeOf(TileBuilder &tiles, const WindowView &view, Value first, Value lower, Value limit) {
  if (!view.window)
    return {first, {lower, limit, Value(), 0, 0}};
  if (!limit)
    limit = tiles.index(view.window.getLength());
  if (view.window.isGrid())
    return {view.origin, {lower, limit, first, view.window.getColumns(), view.window.getGridColumns()}};
  auto absolute = [&](Value row) { return row ? tiles.add(view.origin, row) : row; };
  return {absolute(first), {absolute(lower), absolute(limit), Value(), 0, 0}};
}

static WindowView viewOf(const Problem &problem, const Point &point) { return {problem.window, point.origin}; }

Value kernel::loadRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value memory, Value head,
                       Value first, ArrayRef<int64_t> shape, Value limit, Value lower, int64_t column) {
  RowPlace place = placeOf(tiles, viewOf(problem, point), first, lower, limit);
  return tiles.load(memory, {point.batch, head, place.index, tiles.index(column)}, shape, place.rows);
}

Value kernel::loadInputRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value memory, Value first,
                            Value column, ArrayRef<int64_t> shape, Value limit) {
  RowPlace place = placeOf(tiles, viewOf(problem, point), first, Value(), limit);
  return tiles.load(memory, {point.batch, place.index, column}, shape, place.rows);
}

void kernel::storeRows(TileBuilder &tiles, const Problem &problem, const Point &point, Value tile, Value memory,
                       Value head, Value first, Value limit) {
  RowPlace place = placeOf(tiles, viewOf(problem, point), first, Value(), limit);
  tiles.store(tile, memory, {point.batch, head, place.index, tiles.index(0)}, place.rows);
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

Value kernel::positions(TileBuilder &tiles, const WindowView &view, Value first, int64_t rows) {
  if (!view.window)
    return tiles.iota(first, rows);
  if (!view.window.isGrid())
    return tiles.iota(tiles.add(view.origin, first), rows);
  // Row r of a window of c columns stands in the image at origin + ⌊r / c⌋ (stride − c) + r.
  Value row = tiles.iota(first, rows);
  Value skipped = tiles.times(floorDivide(tiles, row, view.window.getColumns()),
                              tiles.constant({rows}, view.window.getGridColumns() - view.window.getColumns()));
  return tiles.plus(tiles.plus(repeat(tiles, tiles.iota(view.origin, 1), rows), skipped), row);
}

Value kernel::positions(TileBuilder &tiles, const Problem &problem, const Point &point, Value first, int64_t rows) {
  return positions(tiles, viewOf(problem, point), first, rows);
}

//===----------------------------------------------------------------------===//
// Who sees whom
//===----------------------------------------------------------------------===//

Value kernel::tokensBelow(TileBuilder &tiles, const WindowView &view, Value length) {
  attn::WindowAttr window = view.window;
  Value left = tiles.max(tiles.sub(length, view.origin), tiles.index(0));
  if (!window.isGrid())
    return tiles.min(left, tiles.index(window.getLength()));
  Value stride = tiles.index(window.getGridColumns());
  Value rows = arith::DivUIOp::create(tiles.builder, tiles.loc, left, stride);
  Value inLast = tiles.min(remainder(tiles, left, stride), tiles.index(window.getColumns()));
  return tiles.min(tiles.add(tiles.mul(rows, window.getColumns()), inLast), tiles.index(window.getLength()));
}

Value kernel::lengthAt(TileBuilder &tiles, Value lengths, Value batch, Value count) {
  Value length = memref::LoadOp::create(tiles.builder, tiles.loc, lengths, batch);
  length = arith::IndexCastOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), length);
  return tiles.min(tiles.max(length, tiles.index(0)), count);
}

Value kernel::lengthOf(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, Value batch, Value count) {
  return lengthAt(tiles, frame[problem.lengths], batch, count);
}

Value kernel::keyLimit(const KernelFrame &frame, TileBuilder &tiles, const Problem &problem, const Point &point) {
  if (!problem.lengths)
    return keyCount(tiles, problem, frame[problem.key.memory]);
  Value length = lengthOf(frame, tiles, problem, point.batch, tokenCount(tiles, frame[problem.key.memory]));
  return problem.window ? tokensBelow(tiles, viewOf(problem, point), length) : length;
}

VisibleKeys kernel::allKeys(TileBuilder &tiles, Value limit, int64_t keyTile) {
  return {limit, tiles.roundDown(limit, keyTile), limit, Value()};
}

VisibleKeys kernel::keysBefore(TileBuilder &tiles, const CausalTile &tile, Value limit, int64_t keyTile) {
  // Query i sees keys j ≤ i + N − n.
  VisibleKeys result;
  Value offset = tiles.sub(tile.keys, tile.queries);
  result.limit = limit;
  result.diagonal = tiles.add(tile.first, offset);
  Value seenByAll = tiles.min(tiles.add(result.diagonal, tiles.index(1)), limit);
  result.full = tiles.roundDown(seenByAll, keyTile);
  Value end = tiles.min(tiles.add(tile.first, tiles.index(tile.rows)), tile.queries);
  result.last = tiles.min(tiles.add(end, offset), limit);
  return result;
}

Value kernel::maskKeys(TileBuilder &tiles, const VisibleKeys &visible, Value weights, Value firstKey, double fill) {
  Value left = tiles.sub(visible.limit, firstKey);
  Value diagonal = visible.diagonal ? tiles.sub(visible.diagonal, firstKey) : Value();
  return tiles.mask(weights, fill, Value(), left, diagonal);
}
