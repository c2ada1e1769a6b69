//===- TileLayouts.h - The algebra of layouts on a GPU -*- C++ -*- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout says where element (i, j) of a tile lives: in which register of which lane of which warp, or at which place of
// shared memory. Code generation is then arithmetic on these functions, and their laws are tested against brute force.
//
// ## Fragments
//
// mma.m16n8k16 computes C[16, 8] += A[16, 16] B[16, 8], each matrix spread over the 32 lanes of a warp. With g = lane / 4
// and t = lane % 4 a lane holds
//
//     C  row g: columns 2t, 2t+1        row g+8: columns 2t, 2t+1
//     A  row g: k 2t, 2t+1              row g+8: k 2t, 2t+1        and the same at k + 8
//     B  column g: k 2t, 2t+1           and k 2t+8, 2t+9
//
// so in an 8×8 block of C, lane 4g + t holds (row g, columns 2t and 2t + 1):
//
//     column   0  1 |  2  3 |  4  5 |  6  7
//     row 0   lane 0| lane 1| lane 2| lane 3
//     row 1   lane 4| lane 5| lane 6| lane 7
//     ...
//     row 7   lane28| lane29| lane30| lane31
//
// A block of A is held in the same way, and B's transpose too. So one function serves all three, on 8×8 blocks:
//
//     lane(i, j) = 4 (i mod 8) + (j mod 8) / 2
//
// and the weights of attention, made as C of the first product, *are* A of the second: block 2b of C's columns gives
// registers a0, a1 and block 2b + 1 gives a2, a3. The conversion moves nothing.
//
// ### tf32
//
// mma.m16n8k8 on tf32 wants lane 4g + t to hold k = t and k = t + 4 instead of 2t and 2t + 1. A sum does not depend on the
// order of its terms, so A and B may name the terms as they like, if both do it alike: we let slot t stand for k = 2t and
// slot t + 4 for k = 2t + 1. Then fragments of f32 lie as those of f16 do, and C is A here as well, with the two middle
// registers of a block exchanged:
//
//     register          0            1            2            3
//     C            (g,   2t)    (g,   2t+1)  (g+8, 2t)    (g+8, 2t+1)
//     A, inner 16  (g,   2t)    (g,   2t+1)  (g+8, 2t)    (g+8, 2t+1)
//     A, inner 8   (g,   2t)    (g+8, 2t)    (g,   2t+1)  (g+8, 2t+1)
//
// ### A whole tile
//
// The warps of a block are a grid of R rows and K columns; warp w is in row w mod R, column w div R. Rows of A and C go to
// the rows of the grid 16 at a time, round and round. Columns of B and C go to its columns in equal ranges of whole blocks
// of 8, and are further registers within. A lies alike in the warps of a row of the grid, B in those of a column:
//
//     rows of warp row r:        16 (r + R i) … 16 (r + R i) + 15         i = 0, 1, …
//     columns of warp column c:  8 b c … 8 b (c + 1) − 1                  b = ceil(ceil(columns / 8) / K)
//
// Sizes that do not fill the grid are padded: a register may hold an element outside the tile. A lane holds of C
//
//     registers = ceil(rows / 16R) · b · 4 ≥ rows · columns / (32 R K)
//
//     tile of C     grid    rows of warp 1          columns of warp 1   blocks    registers
//     64 × 40       4×1     16–31                   0–39                1 × 5     20
//     64 × 256      4×1     16–31                   0–255               1 × 32    128, too many beside others
//     64 × 256      4×2     16–31                   0–127               1 × 16    64
//     256 × 64      4×2     16–31, 80–95, …         0–31                4 × 4     64
//     16 × 1024     1×8     0–15                    128–255             1 × 16    64
//
// With K = 1, C is A. With more, a row of A has come together from several warps, so the way from C to A is by way of
// shared memory: C is written, and each warp reads the rows that it multiplies, K times in all.
//
// ## Slices
//
// Reducing C along a row leaves a value for each row, equal in the quad of lanes that shared it and in the warps of a row of
// the grid (axis 1); along a column, a value for each column, equal in all lanes with the same t and in the warps of a
// column of the grid (axis 0). Lanes and warps that share add up first, warps through shared memory.
//
// ## Shared memory
//
// 32 banks of 4 bytes serve one word each per wave. Rows are stored one after another in chunks of 16 bytes, what ldmatrix
// and cp.async move; chunk c of row r is stored at place c ^ x(r) of its row.
//
// *16-bit elements.* ldmatrix reads 8 rows at one chunk column in a wave: their places modulo 8 chunks must differ. With
// C chunks a row and s = the largest power of two ≤ 8 that divides C, row starts take 8 / s values modulo 8, so
//
//     x(r) = (r / (8 / s)) mod s
//
//     C = 8 (64 elements): s = 8, x = r mod 8         C = 4: s = 4, x = (r / 2) mod 4
//     C = 5 (40 elements): s = 1, x = 0               C = 10: s = 2, x = (r / 4) mod 2
//
// *32-bit elements.* A lane reads single words (column g of rows 2t, or 2t + 1) or pairs (columns 2t, 2t + 1 of row g, half a
// warp a wave). In pairs of chunks, both patterns need x / 2 to differ among rows 0–3, 4–7, {0, 2, 4, 6} and {1, 3, 5, 7}:
//
//     x(r) = 2 ((r mod 4) ^ (r / 4 mod 2))
//
//     r mod 8      0  1  2  3  4  5  6  7
//     x / 2        0  1  2  3  1  0  3  2
//
// and rows must be whole multiples of 128 bytes: `columns` is padded to 32.
//
// *Panels.* A warpgroup's product reads 16-bit operands of rows of 32, 64 or 128 bytes. Wider tiles are cut into panels of
// such rows, one after another; within a panel places are those above, which is what the instruction demands: see
// Warpgroup.h.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_TILELAYOUTS_H
#define ATTUNE_TILE_TILELAYOUTS_H

#include "attune/Tile/Tile.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace attune::tile {

constexpr int64_t lanesPerWarp = 32;
/// Rows of A and C, and columns of an 8×8 block, of every matrix instruction used here.
constexpr int64_t fragmentRows = 16, blockSize = 8;

/// A register of a thread, counted in elements.
struct RegisterPlace {
  int64_t warp = 0, lane = 0, index = 0;
  bool operator==(const RegisterPlace &) const = default;
};

/// A tile of rows × columns as fragments. B is given as the tile B[k, n].
struct FragmentLayout {
  FragmentRole role;
  int64_t inner;
  WarpGrid warps;
  int64_t rows, columns;

  FragmentLayout(FragmentAttr attr, llvm::ArrayRef<int64_t> shape)
      : role(attr.getRole()), inner(attr.getInner()), warps(attr.getWarps()), rows(shape[0]), columns(shape[1]) {}

  /// Blocks of 16 rows in a warp (A, C), or of 8 rows in a lane (B).
  int64_t rowBlocks() const;
  /// Blocks of 8 columns in a warp.
  int64_t columnBlocks() const;
  /// Rows that all warps have in one block of 16: how far one row block is from the next.
  int64_t rowStride() const { return fragmentRows * warps.rows; }
  /// Columns of a warp.
  int64_t warpColumns() const { return columnBlocks() * blockSize; }
  /// True if no register is padding below the tile, or to its right.
  bool wholeRows() const { return rows % rowStride() == 0; }
  bool wholeColumns() const { return columnBlocks() * blockSize * columnWarps() == columns; }
  /// Elements that a lane holds, padding included.
  int64_t registers() const;
  /// Over how many warps rows and columns are spread.
  int64_t rowWarps() const { return role == FragmentRole::B ? 1 : warps.rows; }
  int64_t columnWarps() const { return role == FragmentRole::A ? 1 : warps.columns; }
  /// How many warps hold the same element.
  int64_t copies() const { return warps.count() / (rowWarps() * columnWarps()); }
  /// Where (i, j) is; of several places, that in the first warp.
  RegisterPlace placeOf(int64_t row, int64_t column) const;
  /// The element at a place; nothing if it is padding.
  std::optional<std::pair<int64_t, int64_t>> elementAt(RegisterPlace place) const;
};

/// A rank-1 tile along a C fragment.
struct SliceLayout {
  int64_t axis;
  WarpGrid warps;
  int64_t size;

  SliceLayout(SliceAttr attr, int64_t size) : axis(attr.getAxis()), warps(attr.getWarps()), size(size) {}
  int64_t registers() const { return 2 * blocks(); }
  /// Blocks of 16 rows (axis 1) or 8 columns (axis 0) in a warp.
  int64_t blocks() const;
  /// The element at a place; nothing if it is padding. Several places hold the same element.
  std::optional<int64_t> elementAt(RegisterPlace place) const;
};

/// A tile in shared memory.
struct SharedLayout {
  int64_t rows, columns, elementBytes;
  int64_t panel; // columns of a panel; all of them if the tile is not cut into panels
  int64_t alignment;

  SharedLayout(SharedAttr attr, mlir::Type element)
      : rows(attr.getRows()), columns(attr.getColumns()), elementBytes(element.getIntOrFloatBitWidth() / 8),
        panel(attr.getPanel() ? attr.getPanel() : columns), alignment(attr.getPanel() ? patternBytes() : 128) {}

  int64_t bytes() const { return rows * columns * elementBytes; }
  /// From one row to the next, in a panel.
  int64_t rowBytes() const { return panel * elementBytes; }
  int64_t panels() const { return columns / panel; }
  int64_t panelBytes() const { return rows * rowBytes(); }
  int64_t chunksPerRow() const { return columns * elementBytes / 16; }
  int64_t chunksPerPanel() const { return rowBytes() / 16; }
  int64_t elementsPerChunk() const { return 16 / elementBytes; }
  /// Eight rows of a panel, after which the swizzle begins anew.
  int64_t patternBytes() const { return blockSize * rowBytes(); }
  /// The power of two s of the essay, for 16-bit elements.
  int64_t swizzlePeriod() const;
  /// x(row): what the number of a chunk is XORed with; depends on row mod 8 alone.
  int64_t swizzle(int64_t row) const;
  /// Byte offset of an element.
  int64_t offsetOf(int64_t row, int64_t column) const;
};

/// The layout of a tile of this shape in shared memory: columns padded so that the swizzle works and that a transposed A
/// has whole fragments, rows padded to whole fragments.
SharedAttr sharedFor(mlir::RankedTensorType tile);

/// True if a conversion leaves every element in its thread: at most registers are renamed.
bool isFreeConversion(FragmentLayout from, FragmentLayout to);

/// `tile` with another encoding.
mlir::RankedTensorType withLayout(mlir::RankedTensorType tile, mlir::Attribute layout);

} // namespace attune::tile

#endif // ATTUNE_TILE_TILELAYOUTS_H
