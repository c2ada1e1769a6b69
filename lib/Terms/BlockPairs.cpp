//===- BlockPairs.cpp - Pairs of neighboring blocks of a chunk ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlockPairs.h"

using namespace mlir;
using namespace attune;

static Value numbers(tile::TileBuilder &tiles, int64_t rows, llvm::function_ref<int64_t(int64_t row)> number) {
  std::vector<float> elements;
  for (int64_t i = 0; i < rows; ++i)
    elements.push_back(static_cast<float>(number(i)));
  return tiles.table(elements);
}

/// 1 where the number of the row is that of the column: [rows, columns].
static Value equal(tile::TileBuilder &tiles, Value ofRows, Value ofColumns) {
  SmallVector<int64_t> square{tiles.shape(ofRows)[0], tiles.shape(ofColumns)[0]};
  Value difference = tiles.minus(tiles.expand(ofRows, 1, square), tiles.expand(ofColumns, 0, square));
  return tiles.selectEqual(difference, 0, tiles.constant(square, 1), tiles.constant(square, 0));
}

/// A table of `rows` rows that is told by the function that makes it and a number.
static Value once(const fusion::TileSite &site, Value (*make)(tile::TileBuilder &, int64_t, int64_t), int64_t rows, int64_t number) {
  auto variant = reinterpret_cast<const void *>(rows << 32 | (number & 0xffffffff));
  auto build = [&](const fusion::TileSite &outside) { return fusion::SiteValue{{make(outside.tiles(), rows, number)}}; };
  return site.once(reinterpret_cast<const void *>(make), variant, fusion::AxisSet(), build).tiles.front();
}

static Value makeDiagonal(tile::TileBuilder &tiles, int64_t rows, int64_t) {
  Value each = numbers(tiles, rows, [](int64_t i) { return i; });
  return equal(tiles, each, each);
}

static Value makeUpToRow(tile::TileBuilder &tiles, int64_t rows, int64_t diagonal) {
  return tiles.mask(tiles.constant({rows, rows}, 1), 0, {}, {}, tiles.index(diagonal));
}

static Value makeBelowPairs(tile::TileBuilder &tiles, int64_t rows, int64_t size) {
  Value lower = numbers(tiles, rows, [=](int64_t i) { return i / size % 2 == 1 ? i / size - 1 : -1; });
  Value upper = numbers(tiles, rows, [=](int64_t j) { return j / size % 2 == 0 ? j / size : -2; });
  return equal(tiles, lower, upper);
}

static Value makeBetweenBorder(tile::TileBuilder &tiles, int64_t rows, int64_t size) {
  Value blocks = numbers(tiles, rows, [=](int64_t i) { return i / size; });
  Value own = equal(tiles, blocks, blocks), upTo = tiles.mask(own, 0, {}, {}, tiles.index(0)); // t ≤ i
  auto ofRows = [&](int64_t lower, int64_t upper) {
    return tiles.expand(numbers(tiles, rows, [=](int64_t i) { return i / size % 2 == 1 ? lower : upper; }), 1, {rows, rows});
  };
  return tiles.plus(tiles.times(own, ofRows(0, 1)), tiles.times(upTo, ofRows(1, -1)));
}

Value terms::diagonal(const fusion::TileSite &site, int64_t rows) { return once(site, makeDiagonal, rows, 0); }
Value terms::upToRow(const fusion::TileSite &site, int64_t rows, int64_t diagonal) { return once(site, makeUpToRow, rows, diagonal); }
Value terms::belowPairs(const fusion::TileSite &site, int64_t rows, int64_t size) { return once(site, makeBelowPairs, rows, size); }
Value terms::betweenBorder(const fusion::TileSite &site, int64_t rows, int64_t size) {
  return once(site, makeBetweenBorder, rows, size);
}
