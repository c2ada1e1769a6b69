//===- Warpgroup.h - Operands of a warpgroup's products in shared memory -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async computes C[64, n] += A[64, 16] B[16, n], with n a multiple of 8 up to 256, by the four warps of a
// group. Warp w of the group holds rows 16 w … 16 w + 15 of C as m16n8k16 would, n / 8 blocks side by side: the `c`
// fragment of TileLayouts.h on a grid of four rows of warps. A comes from registers, as the `a` fragment of each warp,
// or like B from shared memory, named by a descriptor of 64 bits.
//
// ## Where the instruction looks
//
// Let i count along m or n. The operand lies *k first* if elements that follow one another have neighbouring k (keys in
// Q Kᵀ), else *i first* (values in P V). A swizzle of W = 32, 64 or 128 bytes exchanges the 16-byte chunks of an
// address:
//
//     swizzled(p) = p ^ (p / 128 mod W / 16) · 16
//
// and with a start address p₀ the element (i, k) of 16 bits is read at swizzled(p₀ + offset),
//
//     k first    offset = i / 8 · stride + i mod 8 · W + 2 k                                    2 k < W
//     i first    offset = 2 i / W · leading + k / 8 · stride + k mod 8 · W + 2 i mod W
//
// ## A tile in panels is that
//
// Rows of a panel are W bytes, and chunk c of row r is at c ^ x(r) (TileLayouts.h). With W = 128: eight chunks a row,
// x(r) = r mod 8; the row's number is p / 128, so the places agree if the tile begins at a multiple of 8 · 128. With W
// = 64 a row is half of 128 bytes, and p / 128 mod 4 = r / 2 mod 4 = x(r); with W = 32, p / 128 mod 2 = r / 4 mod 2 =
// x(r). So with `begin` a multiple of 8 W, B = panel · rows · W bytes a panel, and 16 of k from k₀ on:
//
//     k first (rows are i)    p₀ = begin + k₀ / panel · B + i₀ W + 2 (k₀ mod panel)       stride = 8 W
//     i first (rows are k)    p₀ = begin + i₀ / panel · B + k₀ W + 2 (i₀ mod panel)       stride = 8 W, leading = B
//
// k₀ is a multiple of 16, so a step along k stays within a row of the panel: 2 (k₀ mod panel) + 32 ≤ W. The start
// changes bits 5 and 6 of the address alone then, and the exchange, which goes by bits 7 to 9, is that of the row.
// Along i the instruction itself goes from panel to panel, by `leading`, if i₀ begins one.
//
//     tile           W     panels    B        step of 16 k: k first     i first
//     64 × 64 f16    128   1         8,192    32                         2,048
//     64 × 128 f16   128   2         8,192    32, 32, 32, 8,096, …       2,048
//     32 × 32 f16    64    1         2,048    32                         1,024
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_WARPGROUP_H
#define ATTUNE_TILE_WARPGROUP_H

#include "attune/Tile/TileLayouts.h"

namespace attune::tile {

constexpr int64_t warpsPerGroup = 4;
/// Rows of C, and k, of one product of a warpgroup; the most columns.
constexpr int64_t warpgroupRows = 64, warpgroupDepth = 16, warpgroupColumns = 256;

/// A tile in panels, as an operand of a warpgroup's products.
struct WarpgroupOperand {
  SharedLayout layout;
  bool kFirst; ///< columns of the tile run along k; else its rows do

  int64_t swizzleBytes() const { return layout.rowBytes(); }
  int64_t strideBytes() const { return layout.patternBytes(); }
  int64_t leadingBytes() const { return kFirst ? 16 : layout.panelBytes(); }
  /// Bytes from the tile's begin to where the instruction starts for elements from (i, k) on.
  int64_t startOf(int64_t i, int64_t k) const;
  /// May one instruction read `count` rows of A or columns of B from `i` on?
  bool isReadable(int64_t i, int64_t count) const;
  /// The descriptor without the start address, which is added as address / 16.
  uint64_t descriptor() const;
};

/// The layout of a 16-bit tile for such products: in panels of 64 columns, narrower ones in one panel of 16 or 32.
SharedAttr warpgroupSharedFor(mlir::RankedTensorType tile);

} // namespace attune::tile

#endif // ATTUNE_TILE_WARPGROUP_H
