//===- SketchedTiles.cpp - Tiles of sketched attention and its state ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SketchedTiles.h"

#include "attune/Tile/WindowTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

bool kernel::productsOnce(const Problem &problem, const PolysketchOptions &options) {
  return problem.schedule.getTarget() == tile::TargetKind::CPU && options.form != "quadratic";
}

BlockTiles kernel::tilesOf(const Problem &problem, const PolysketchOptions &options) {
  int64_t rows = problem.schedule.getQueryTile(), block = options.localExact.value_or(rows);
  return {block, tile::windowTile(block, rows)};
}

SmallVector<Value> Sketches::values(ArrayRef<Value> further) const {
  SmallVector<Value> all =
      hostValues(problem, {query.memory, key.memory, queryColumns, keyColumns, queryLengths, largest});
  if (running)
    llvm::append_range(all, running.values());
  llvm::append_range(all, further);
  return all;
}

QueryTile kernel::queryTile(TileBuilder &tiles, const Sketches &at, const KernelFrame &frame, const Point &point) {
  auto reader = [&](const Tokens &tokens) {
    return TokenReader(tiles, frame, at.problem, tokens, point, at.problem.heads());
  };
  return {at,
          frame,
          point,
          reader(at.problem.query),
          reader(at.problem.key),
          reader(at.problem.value),
          reader(at.query),
          reader(at.key),
          at.running.in(frame),
          Value(),
          Value()};
}

/// The state's memories in the host, or in a kernel.
static SketchState stateOf(const Sketches &at, Value state, Value sum, Value unit) {
  return {state, sum, unit, at.options.size, at.problem.valueWidth(), productsOnce(at.problem, at.options)};
}

SketchState kernel::allocateState(BuildSite &site, const Sketches &at, Value pieces) {
  TileBuilder host(site.host, site.loc);
  SmallVector<Value> sizes{host.dim(at.problem.query.memory, 0)};
  SketchState shape = stateOf(at, Value(), Value(), Value());
  SmallVector<int64_t> unit{ShapedType::kDynamic, at.problem.heads(), shape.slices()};
  if (pieces)
    unit.insert(unit.begin() + 2, ShapedType::kDynamic), sizes.push_back(pieces);
  SmallVector<int64_t> sum = unit, state = unit;
  sum.push_back(shape.size), state.append({shape.height(), shape.valueWidth});
  return stateOf(at, site.workspace(state, sizes), site.workspace(sum, sizes), site.workspace(unit, sizes));
}

SketchState kernel::inKernel(const KernelFrame &frame, const Sketches &at, const SketchState &host) {
  return stateOf(at, frame[host.state], frame[host.sum], frame[host.unit]);
}

/// The last token before one, and the first before none.
static Value tokenBefore(TileBuilder &tiles, Value token) {
  return tiles.max(tiles.sub(token, tiles.index(1)), tiles.index(0));
}

/// The slice after the keys from ≤ j < end of the block from … past.
static SmallVector<Value> addKeys(TileBuilder &tiles, const QueryTile &tile, const SketchState &state, Value f,
                                  Value from, Value end, Value past, SmallVector<Value> slice) {
  Value last;
  if (tile.running) {
    last = tokenBefore(tiles, past);
    slice = state.rescaled(tiles, slice, tile.running.ofState(tiles, tile.point, tokenBefore(tiles, from), last, 1));
  }
  Value memory = tile.frame[tile.at.key.memory];
  return loop(tiles, SketchState::carry(tiles), from, end, tile.at.rows, slice,
              [&](TileBuilder &inner, Value first, ValueRange before) {
                Value s = tile.sketchedKey.load(inner, first, tile.at.rows, end);                    // [T, r]
                Value column = sketchColumn(inner, tile.point, memory, first, f, tile.at.rows, end); // [T]
                if (last) {
                  Value size = tile.running.ofKeys(inner, tile.point, first, tile.at.rows, end, last); // [T]
                  s = inner.times(s, inner.expand(size, 1, inner.shape(s)));
                  column = inner.times(column, size);
                }
                return state.add(inner, before, s, column, tile.value.load(inner, first, tile.at.rows, end));
              });
}

SmallVector<Value> kernel::readState(TileBuilder &tiles, const QueryTile &tile, const SketchState &state,
                                     const PowerCarry &carry, Value start) {
  Value s = tile.sketchedQuery.load(tiles, tile.first, tile.at.rows); // [Tq, r]
  Value memory = tile.frame[tile.at.query.memory], factor;
  if (tile.running)
    factor = tile.running.ofState(tiles, tile.point, tokenBefore(tiles, start), tile.first, tile.at.rows);
  if (state.once) {
    Value columns = tile.frame[tile.at.queryColumns];
    Value block = tile.at.grid.number(tiles, tile.first), c0 = tiles.index(0);
    auto entry = [&](TileBuilder &inner, Value f) {
      return inner.load(columns, {tile.point.batch, tile.point.head, block, f, c0}, tile.at.rows);
    };
    auto window = [&](TileBuilder &inner, Value f) {
      return inner.load(memory, {tile.point.batch, tile.point.head, tile.first, f}, {tile.at.rows, state.height()});
    };
    return state.readProducts(tiles, tile.point, carry, s, {entry, window}, factor);
  }
  auto column = [&](TileBuilder &inner, Value f) {
    return sketchColumn(inner, tile.point, memory, tile.first, f, tile.at.rows);
  };
  return state.read(tiles, tile.point, carry, s, column, factor);
}

/// `addToSlices` where each product is there once: tile after tile enters all slices.
static void addProducts(TileBuilder &tiles, const QueryTile &tile, const SketchState &state, Value start, Value end,
                        Value past) {
  int64_t rows = tile.at.rows;
  Value memory = tile.frame[tile.at.key.memory], columns = tile.frame[tile.at.keyColumns];
  Value last = tokenBefore(tiles, past);
  if (tile.running)
    state.shrink(tiles, tile.point, tile.running.ofState(tiles, tile.point, tokenBefore(tiles, start), last, 1));
  auto step = [&](TileBuilder &inner, Value first, ValueRange) -> SmallVector<Value> {
    Value size; // [T]
    if (tile.running)
      size = tile.running.ofKeys(inner, tile.point, first, rows, end, last);
    auto sized = [&](TileBuilder &deeper, Value s) {
      return size ? deeper.times(s, deeper.expand(size, 1, deeper.shape(s))) : s;
    };
    Value block = tile.at.grid.number(inner, first), limit = inner.sub(end, first), c0 = inner.index(0);
    auto column = [&](TileBuilder &deeper, Value f) {
      Value s = deeper.load(columns, {tile.point.batch, tile.point.head, block, f, c0}, rows, limit);
      return size ? deeper.times(s, size) : s;
    };
    auto window = [&](TileBuilder &deeper, Value f) {
      SmallVector<int64_t> shape{rows, state.height()};
      return sized(deeper, deeper.load(memory, {tile.point.batch, tile.point.head, first, f}, shape, end));
    };
    Value s = sized(inner, tile.sketchedKey.load(inner, first, rows, end));                     // [T, r]
    Value v = inner.cast(tile.value.load(inner, first, rows, end), inner.builder.getF32Type()); // [T, dv]
    state.addProducts(inner, tile.point, s, v, {column, window});
    return {};
  };
  loop(tiles, tiles.sums(), start, end, rows, {}, step);
}

/// Where all products are there, slice after slice reads the keys, so there are few enough for a cache.
void kernel::addToSlices(TileBuilder &tiles, const QueryTile &tile, const SketchState &state, Value start, Value end,
                         Value past) {
  if (state.once)
    return addProducts(tiles, tile, state, start, end, past);
  loop(tiles, tiles.sums(), tiles.index(0), tiles.index(state.size), 1, {},
       [&](TileBuilder &inner, Value f, ValueRange) -> SmallVector<Value> {
         SmallVector<Value> slice = state.load(inner, tile.point, f);
         state.store(inner, tile.point, f, addKeys(inner, tile, state, f, start, end, past, slice));
         return {};
       });
}
