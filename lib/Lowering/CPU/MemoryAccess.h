//===- MemoryAccess.h - Rows of a tile in memory -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_MEMORYACCESS_H
#define ATTUNE_LOWERING_CPU_MEMORYACCESS_H

#include "FetchAhead.h"
#include "FoldedRows.h"
#include "KernelState.h"

namespace attune::cpu {

/// Rows of the memory from the load's tile to the one that it reads next, in the next step of the loop around it, in
/// the next block of queries or, of a fold, in the window to the right; 0 if it does not move.
int64_t rowsToNext(mlir::Operation *access);
/// The same of a memory in blocks, [.., blocks, rows, columns], that a loop over a length takes block by block, or the programs of a kernel head by head.
int64_t blocksToNext(mlir::Operation *access);
/// The tile that it reads next.
FetchShape nextShape(mlir::Operation *access);

/// The place of a `tile.load` or `tile.store` in memory. A row that does not exist is replaced by a row of the scratch:
/// zeros for loads, one that nobody reads for stores; so only the last vector of a row is ever masked.
class MemoryAccess {
public:
  MemoryAccess(KernelState &state, Operation *op);

  /// The elements from (outer, inner), of which `valid` are part of the tile, as f32.
  Value load(Emit &emit, Value outer, Value inner, int64_t valid) const;
  /// The numbers from (outer, inner) as they are stored; all of them must be part of the tile.
  Value loadStored(Emit &emit, Value outer, Value inner, int64_t count) const;
  void store(Emit &emit, Value value, Value outer, Value inner, int64_t valid) const;

  /// Where the tile lies, as it is fetched.
  FetchPlace place(Emit &emit) const;
  /// Where the tile lies that is read next.
  FetchPlace nextPlace(Emit &emit, mlir::Operation *access) const;
  /// Fetches the line of (outer, inner) of the next step of the loop over the sequence into the second-level cache.
  void prefetchNext(Emit &emit, Value outer, Value inner) const;
  bool moves() const { return ahead != 0; }
  /// Elements of a cache line of 64 bytes.
  int64_t lineElements() const { return 8 * cacheLineBytes / element.getIntOrFloatBitWidth(); }

  /// Whether all of the tile's columns are known to exist.
  bool wholeColumns() const { return !columns; }
  /// Whether all of the tile's rows are known to exist.
  bool wholeRows() const { return !rows && !before; }
  /// Rows before this one exist; null if all do.
  Value rowsThatExist() const { return rows; }
  /// Of a fold the tile's place in its window.
  FoldPlace placeOfFold(Emit &emit) const;
  /// The tile where it lies; of a window that has whole rows of the image they follow each other.
  Buffer buffer(Emit &emit, const Fold &fold) const;
  /// i1: a row does not exist.
  Value missesRow(Emit &emit, int64_t count) const;
  Value base;   ///< element (0, 0); of a fold that of the window's token 0
  Value stride; ///< from row to row; null for rank 1

private:
  Type element;
  Value rows;    ///< rows before this one exist; null if all do
  Value columns; ///< columns before this one exist; null if all do
  Value before;  ///< rows (of rank 1: elements) before this one do not exist; null if all do
  Value first;   ///< of a fold: the tile's first token in the window
  int64_t foldColumns = 0, foldStride = 0;
  int64_t ahead = 0; ///< rows to the next step's tile, negative from the last one down; 0 if it does not move with a loop, or if a dot fetches it
  Value edgeRow, blockStride;

  FetchPlace nextInWindow(Emit &emit, mlir::Operation *access) const;
  Value row(Emit &emit, Value outer) const;
  Value address(Emit &emit, Value outer, Value inner) const;
  Value mask(Emit &emit, Value inner, int64_t valid) const;
  std::optional<int64_t> onlyLane(Emit &emit, Value inner, int64_t valid) const;
};

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_MEMORYACCESS_H
