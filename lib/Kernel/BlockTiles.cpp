//===- BlockTiles.cpp - Tiles that never leave a block of tokens ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlockTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value BlockTiles::count(TileBuilder &host, Value tokens) const {
  return even() ? host.ceilDiv(tokens, rows) : host.mul(host.ceilDiv(tokens, block), perBlock());
}

Value BlockTiles::first(TileBuilder &tiles, Value number) const {
  if (even())
    return tiles.mul(number, rows);
  Value which = tiles.div(number, perBlock()), inBlock = tiles.sub(number, tiles.mul(which, perBlock()));
  return tiles.add(tiles.mul(which, block), tiles.mul(inBlock, rows));
}

Value BlockTiles::number(TileBuilder &tiles, Value first) const {
  if (even())
    return tiles.div(first, rows);
  Value which = tiles.div(first, block), inBlock = tiles.sub(first, tiles.mul(which, block));
  return tiles.add(tiles.mul(which, perBlock()), tiles.div(inBlock, rows));
}

Value BlockTiles::blockEnd(TileBuilder &tiles, Value number) const {
  return tiles.mul(tiles.add(tiles.div(number, perBlock()), tiles.index(1)), block);
}
