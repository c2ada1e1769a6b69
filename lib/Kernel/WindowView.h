//===- WindowView.h - Rows of windows, and who sees whom -*- C++ -*--------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Windows.cpp knows of sequences without a problem: places of rows, positions, lengths, visibility.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_WINDOWVIEW_H
#define ATTUNE_LIB_KERNEL_WINDOWVIEW_H

#include "KernelFrame.h"

namespace attune::kernel {

/// The rows of a sequence that a program works on: those of a window, or all.
struct WindowView {
  attn::WindowAttr window; ///< null: the whole sequence
  mlir::Value origin;      ///< the memory row of the window's first token; null without a window
};

/// How many windows a sequence has, of which `memory` holds tokens; with a last one of what is left, if that may be.
mlir::Value windowCount(TileBuilder &tiles, attn::WindowAttr window, mlir::Value memory, bool shortLast);
/// The memory row of the first token of a window.
mlir::Value originOf(TileBuilder &tiles, attn::WindowAttr window, mlir::Value number);

/// How a load or store finds the rows of a window: the index of the token dimension, and the bounds of `tile.load`.
struct RowPlace {
  mlir::Value index;
  TileBuilder::Rows rows;
};
RowPlace placeOf(TileBuilder &tiles, const WindowView &view, mlir::Value first, mlir::Value lower, mlir::Value limit);

/// The positions in the sequence of tokens first … first + rows − 1 of a view: [rows], f32.
mlir::Value positions(TileBuilder &tiles, const WindowView &view, mlir::Value first, int64_t rows);

/// How many tokens of the window stand below row `length` of the memory: a prefix, as tokens keep their order.
mlir::Value tokensBelow(TileBuilder &tiles, const WindowView &view, mlir::Value length);

/// The length of a batch entry in a memory [batch] of i32: within 0 … count whatever the memory holds, as it may change after the
/// runtime has looked at it, and on a device nobody has.
mlir::Value lengthAt(TileBuilder &tiles, mlir::Value lengths, mlir::Value batch, mlir::Value count);

/// Every query sees all keys below `limit`.
VisibleKeys allKeys(TileBuilder &tiles, mlir::Value limit, int64_t keyTile);

/// A tile of `rows` queries from `first` on, of so many queries and keys in all.
struct CausalTile {
  mlir::Value first;
  int64_t rows;
  mlir::Value queries, keys;
  int64_t last = 0; ///< each sees only the last so many of its keys; 0: all
  bool isAll = false; ///< the tile has all queries, however many rows that are
};
/// Query i sees the keys j ≤ i + N − n below `limit`.
VisibleKeys keysBefore(TileBuilder &tiles, const CausalTile &tile, mlir::Value limit, int64_t keyTile);

/// A tile of `rows` keys from `first` on, of those below `limit`, and the queries that see it.
struct SeenTile {
  mlir::Value first;
  int64_t rows;
  mlir::Value queries, keys, limit;
  int64_t last = 0; ///< each query sees only the last so many of its keys; 0: all
};
/// The queries that see one of these keys, by i + N − n ≥ j: from `begin` on and below `last`; each of those from `entered` on and below `full`
/// sees all of them. These are multiples of `step`, but for `last`. `diagonal` is N − n.
VisibleKeys queriesFrom(TileBuilder &tiles, const SeenTile &tile, int64_t step);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_WINDOWVIEW_H
