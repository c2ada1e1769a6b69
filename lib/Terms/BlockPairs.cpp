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

Value terms::diagonal(tile::TileBuilder &tiles, int64_t rows) {
  Value each = numbers(tiles, rows, [](int64_t i) { return i; });
  return equal(tiles, each, each);
}

Value terms::belowPairs(tile::TileBuilder &tiles, int64_t rows, int64_t size) {
  Value lower = numbers(tiles, rows, [=](int64_t i) { return i / size % 2 == 1 ? i / size - 1 : -1; });
  Value upper = numbers(tiles, rows, [=](int64_t j) { return j / size % 2 == 0 ? j / size : -2; });
  return equal(tiles, lower, upper);
}

Value terms::betweenBorder(tile::TileBuilder &tiles, int64_t rows, int64_t size) {
  Value blocks = numbers(tiles, rows, [=](int64_t i) { return i / size; });
  Value own = equal(tiles, blocks, blocks), upTo = tiles.mask(own, 0, {}, {}, tiles.index(0)); // t ≤ i
  auto ofRows = [&](int64_t lower, int64_t upper) {
    return tiles.expand(numbers(tiles, rows, [=](int64_t i) { return i / size % 2 == 1 ? lower : upper; }), 1, {rows, rows});
  };
  return tiles.plus(tiles.times(own, ofRows(0, 1)), tiles.times(upTo, ofRows(1, -1)));
}
