//===- FetchAhead.h - Tiles that dots fetch while they compute ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step of a block's sums fetches one cache line: block 0 the first lines of the tile, row after row, block 1 those behind them, and so on. Of a
// window, whose rows are walked, block 0 has the first line of each row, block 1 the second one; more rows than there are steps take several blocks
// a line.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_FETCHAHEAD_H
#define ATTUNE_LOWERING_CPU_FETCHAHEAD_H

#include "Emit.h"
#include "FoldedRows.h"

#include "attune/Tile/Tile.h"

#include "llvm/Support/MathExtras.h"

namespace attune::cpu {

struct KernelState;

inline constexpr int64_t cacheLineBytes = 64;
/// What may come into a first-level cache beside a tile of that size that is in use.
inline constexpr int64_t nearBytes = 16 * 1024;

/// Whether a dot has too few steps to fetch a line in each: it fetches several.
inline bool isShallow(int64_t inner) { return inner <= 4; }

/// A tile as a dot fetches it: rows of whole cache lines.
struct FetchShape {
  int64_t rows, lines;
  int64_t columns, stride; ///< of a fold: tokens of a row of the window and of the image; else 0
  bool near = false;       ///< into the first-level cache

  std::string name() const;
  int64_t bytes() const { return rows * lines * cacheLineBytes; }
  /// Blocks of a dot that fetch it.
  int64_t blocks(int64_t steps) const { return columns ? lines * llvm::divideCeil(rows, steps) : llvm::divideCeil(rows * lines, steps); }
};

/// Blocks that these tiles take, of which each fetches so many lines.
int64_t blocksToFetch(ArrayRef<FetchShape> shapes, int64_t lines);
/// Lines that each of so many blocks fetches at once, where it has too few steps: as many as leave room for all of them.
int64_t linesOfBlock(ArrayRef<FetchShape> shapes, int64_t blocks);

/// Where the tile lies.
struct FetchPlace {
  Value base;     ///< its row 0; of a fold the window's token 0
  Value rowBytes; ///< from row to row
  Value first;    ///< of a fold: the tile's first token in the window
};

/// What one block of a dot fetches.
class BlockFetch {
public:
  /// Of block `number` of a dot with sums of `steps` products; `idle` is a place for those that have nothing to fetch.
  BlockFetch(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number, int64_t steps,
             Value idle);
  /// What the loop over the steps carries for it.
  ValueRange start() const { return walk ? walk->start() : ValueRange(); }
  /// Emits step k; what the next one carries.
  SmallVector<Value, 2> emitStep(Emit &emit, Value k, ValueRange carried) const;

private:
  void walkLines(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number, int64_t steps);
  Value bytesTo(Emit &emit, Value line) const;
  void walkWindow(Emit &emit, ArrayRef<FetchShape> shapes, ArrayRef<FetchPlace> places, Value number, int64_t steps);

  Value base;
  Value first;                 ///< line of the tile that step 0 fetches; null: that lies at `base`
  Value last;                  ///< of its lines; null: no step is behind it
  Value rowsOfLine;            ///< 2³² over the lines of a row
  Value jump;                  ///< bytes from the end of a row to the next one
  bool near = false;
  std::optional<RowWalk> walk; ///< of a window: bytes from `base`
};

/// Gives the loads of a loop's body that move on with it to the dots and scans of that body, each to one, so that memory works
/// while they compute; and loads before the loop that move on with the grid, and stores after it.
void assignFetches(KernelState &state, Block &body);
/// What a dot or a scan fetches for one of them; `idle` is a place for the steps in which it has nothing to fetch.
FetchPlace fetchPlace(KernelState &state, Operation *op, Operation *access, Value idle);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_FETCHAHEAD_H
