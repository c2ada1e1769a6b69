//===- FoldedRows.h - Rows of a window of an image, where they lie -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token t of a window lies t + (t div columns) · jump rows of the memory behind its first token. A dot that reads its
// rows one by one, or in blocks that do not cross the edge of the window, needs no copy of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_FOLDEDROWS_H
#define ATTUNE_LOWERING_CPU_FOLDEDROWS_H

#include "Emit.h"

#include "attune/Tile/Tile.h"

namespace attune::cpu {

/// What is known of a tile's rows when its code is made.
struct Fold {
  int64_t columns = 0; ///< tokens of a row of the window; 0: all rows are equally far apart
  int64_t run = 1;     ///< so many tokens from a multiple of it on stand in one row of the window

  explicit operator bool() const { return columns != 0; }
  std::string name() const;
};

/// What is known when it runs.
struct FoldPlace {
  Value first; ///< the tile's first token in the window
  Value jump;  ///< rows of the memory that are left out after each row of the window
};

/// Of the rows that a load reads or a store writes; `columns` is 0 if the window has whole rows of the image.
Fold foldOf(tile::LoadOp load);
Fold foldOf(tile::StoreOp store);
/// Row i of the tile as rows of the memory from the window's first token on.
Value foldedRow(Emit &emit, const Fold &fold, const FoldPlace &place, Value i);

/// The rows of a window one after another, each place from that before by additions alone: a division and two products
/// for every row take as long as the seven rows of products that a dot does with it.
class RowWalk {
public:
  /// From the tile's row 0 on; places are in units of `step`, from row to row of the memory.
  RowWalk(Emit &emit, const Fold &fold, const FoldPlace &place, Value step);
  /// What a loop over the rows carries: the place and how many tokens are left of the row of the window.
  ValueRange start() const { return first; }
  SmallVector<Value, 2> next(Emit &emit, ValueRange now) const;

private:
  int64_t columns;
  Value step, stepAndJump;
  SmallVector<Value, 2> first;
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_FOLDEDROWS_H
