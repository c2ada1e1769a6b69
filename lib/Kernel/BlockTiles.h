//===- BlockTiles.h - Tiles that never leave a block of tokens -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_BLOCKTILES_H
#define ATTUNE_LIB_KERNEL_BLOCKTILES_H

#include "TileBuilder.h"

namespace attune::kernel {

/// Every block of tokens begins a tile; the last tile of a block may have rows past its end.
struct BlockTiles {
  int64_t block, rows;

  int64_t perBlock() const { return llvm::divideCeil(block, rows); }
  bool even() const { return block % rows == 0; }
  /// How many tiles so many tokens have.
  mlir::Value count(TileBuilder &host, mlir::Value tokens) const;
  /// The first token of a tile.
  mlir::Value first(TileBuilder &tiles, mlir::Value number) const;
  /// The tile that begins at a token.
  mlir::Value number(TileBuilder &tiles, mlir::Value first) const;
  /// The first token past the block of that tile.
  mlir::Value blockEnd(TileBuilder &tiles, mlir::Value number) const;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_BLOCKTILES_H
