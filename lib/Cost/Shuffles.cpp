//===- Shuffles.cpp - What a tile costs in shuffles -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Shuffles.h"

#include "attune/Tile/TileLayouts.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;
using tile::blockSize;

static constexpr int64_t lanesOfQuad = 4;

static double count(tile::WarpGrid warps) { return static_cast<double>(warps.count()); }

/// h of the table.
static double rowBlocks(tile::WarpGrid warps, double rows) {
  return std::ceil(rows / static_cast<double>(tile::fragmentRows * warps.rows));
}

/// b of the table.
static double columnBlocks(tile::WarpGrid warps, double columns) {
  return std::ceil(std::ceil(columns / static_cast<double>(blockSize)) / static_cast<double>(warps.columns));
}

double cost::shufflesAlongRows(tile::WarpGrid warps, double rows) { return count(warps) * 4 * rowBlocks(warps, rows); }

double cost::shufflesAlongColumns(tile::WarpGrid warps, double columns) {
  return count(warps) * 6 * columnBlocks(warps, columns);
}

double cost::shufflesOfMove(tile::WarpGrid warps, double rows, double columns, double bytesEach) {
  double units = bytesEach == 2 ? 4 : 2;
  return count(warps) * rowBlocks(warps, rows) * units * std::ceil(2 * columnBlocks(warps, columns) / units);
}

/// Registers that the element `second` of block `block` comes from, of the four lanes of a quad; none if it is at home.
static int64_t sourcesOf(int64_t block, int64_t second, int64_t columns) {
  llvm::SmallVector<int64_t, lanesOfQuad> sources;
  bool atHome = true;
  for (int64_t lane = 0; lane < lanesOfQuad; ++lane) {
    int64_t column = block * blockSize + lane * 2 + second;
    int64_t from = column < columns ? (column + columns / 2) % columns : column; // padding stays
    int64_t place = from / blockSize * 2 + from % 2;
    atHome &= from % blockSize / 2 == lane;
    if (!llvm::is_contained(sources, place))
      sources.push_back(place);
  }
  return atHome && sources.size() == 1 ? 0 : static_cast<int64_t>(sources.size());
}

double cost::shufflesOfHalves(tile::WarpGrid warps, double rows, int64_t columns) {
  if (columns % (2 * blockSize) == 0) // by whole blocks: registers are renamed
    return 0;
  int64_t shuffles = 0;
  for (int64_t block = 0; block * blockSize < columns; ++block)
    for (int64_t second : {0, 1})
      shuffles += sourcesOf(block, second, columns);
  return count(warps) * 2 * rowBlocks(warps, rows) * static_cast<double>(shuffles);
}
