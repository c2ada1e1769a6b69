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

Value kernel::tokenCount(TileBuilder &tiles, Value memory) {
  return tiles.dim(memory, cast<MemRefType>(memory.getType()).getRank() - 2);
}

Value kernel::windowCount(TileBuilder &tiles, attn::WindowAttr window, Value memory, bool shortLast) {
  if (window.isGrid())
    return tiles.index(window.getGridRows() * window.getGridColumns() / window.getLength());
  Value tokens = tokenCount(tiles, memory);
  return shortLast ? tiles.ceilDiv(tokens, window.getLength()) : tiles.div(tokens, window.getLength());
}

Value kernel::originOf(TileBuilder &tiles, attn::WindowAttr window, Value number) {
  if (!window.isGrid())
    return tiles.mul(number, window.getLength());
  int64_t across = window.getGridColumns() / window.getColumns();
  Value row = tiles.mul(tiles.div(number, across), window.getRows() * window.getGridColumns());
  Value column = tiles.mul(remainder(tiles, number, tiles.index(across)), window.getColumns());
  return tiles.add(row, column);
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

/// x [1] as [rows].
static Value repeat(TileBuilder &tiles, Value x, int64_t rows) {
  return tiles.reduceAdd(tiles.expand(x, 1, {1, rows}), 0);
}

ArrayRef<int64_t> kernel::sizesOf(Value memory) { return cast<MemRefType>(memory.getType()).getShape(); }

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
  Value end = tile.isAll ? tile.queries : tiles.min(tiles.add(tile.first, tiles.index(tile.rows)), tile.queries);
  result.last = tiles.min(tiles.add(end, offset), limit);
  if (tile.last) { // those of the first row begin first, those of the last row last
    auto firstOf = [&](Value keys) { return tiles.max(tiles.sub(keys, tiles.index(tile.last)), tiles.index(0)); };
    result.lastOnly = tile.last;
    result.begin = tiles.roundDown(firstOf(seenByAll), keyTile);
    Value entered = tiles.add(firstOf(result.last), tiles.index(keyTile - 1));
    result.entered = tiles.min(tiles.roundDown(entered, keyTile), tiles.max(result.full, result.begin));
  }
  return result;
}

VisibleKeys kernel::queriesFrom(TileBuilder &tiles, const SeenTile &tile, int64_t step) {
  VisibleKeys result;
  Value zero = tiles.index(0), rows = tiles.index(tile.rows), lastKey = tiles.sub(tiles.add(tile.first, rows), tiles.index(1));
  result.limit = tile.limit;
  result.diagonal = tiles.sub(tile.keys, tile.queries);
  auto firstOf = [&](Value key) { return tiles.max(tiles.sub(key, result.diagonal), zero); };
  result.begin = tiles.min(tiles.roundDown(firstOf(tile.first), step), tile.queries);
  Value entered = tiles.roundDown(tiles.add(firstOf(lastKey), tiles.index(step - 1)), step);
  result.entered = tiles.min(entered, tile.queries);
  result.full = result.last = tile.queries;
  if (!tile.last)
    return result;
  // The last keys that exist are seen by every query behind them.
  Value last = tiles.index(tile.last), leaving = tiles.sub(tile.limit, last);
  auto lastOf = [&](Value key) {
    Value kept = tiles.max(tiles.sub(tiles.add(key, tiles.index(1)), leaving), zero);
    return tiles.min(tiles.add(firstOf(tiles.add(key, last)), multiply(tiles, kept, tile.queries)), tile.queries);
  };
  result.lastOnly = tile.last;
  result.last = tiles.max(lastOf(lastKey), result.entered);
  result.full = tiles.max(tiles.roundDown(lastOf(tile.first), step), result.entered);
  result.full = tiles.min(result.full, result.last);
  return result;
}

/// 1 at the keys before the last ones that a row would see, else 0.
static Value passedKeys(TileBuilder &tiles, const VisibleKeys &visible, ArrayRef<int64_t> pairs, Value left, Value diagonal) {
  Value last = tiles.index(visible.lastOnly);
  return tiles.mask(tiles.constant(pairs, 1), 0, Value(), tiles.sub(left, last), tiles.sub(diagonal, last));
}

/// Weights with `fill` where row r does not see a key j ≤ r + diagonal.
static Value maskDiagonal(TileBuilder &tiles, const VisibleKeys &visible, Value weights, Value left, Value diagonal, double fill) {
  Value seen = tiles.mask(weights, fill, Value(), left, diagonal);
  if (!visible.lastOnly)
    return seen;
  ArrayRef<int64_t> pairs = tiles.shape(weights);
  return tiles.selectEqual(passedKeys(tiles, visible, pairs, left, diagonal), 0, seen, tiles.constant(pairs, fill));
}

Value kernel::maskKeys(TileBuilder &tiles, const VisibleKeys &visible, Value weights, Value firstKey, double fill) {
  Value left = tiles.sub(visible.limit, firstKey);
  Value diagonal = visible.diagonal ? tiles.sub(visible.diagonal, firstKey) : Value();
  const HeadRows &heads = visible.heads;
  if (!diagonal || heads.count == 1)
    return maskDiagonal(tiles, visible, weights, left, diagonal, fill);
  SmallVector<int64_t> pairs(tiles.shape(weights));
  Value ones = tiles.constant(pairs, 1), seen;
  for (int64_t head = heads.count - 1; head >= 0; --head) { // those before the next head's rows are not that one's
    Value begin = tiles.sub(multiply(tiles, heads.rows, tiles.index(head)), heads.first);
    Value own = maskDiagonal(tiles, visible, weights, left, tiles.sub(diagonal, begin), fill);
    seen = seen ? tiles.selectEqual(tiles.mask(ones, 0, tiles.add(begin, heads.rows), Value(), Value()), 0, seen, own) : own;
  }
  return seen;
}
