//===- Shuffles.h - What a tile costs in shuffles -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles of all warps of a block for one tile of rows × columns, which lies in registers as the essay of
// TileLayouts.h says. A grid of R × K warps gives each warp
//
//     h = ceil(rows / 16R)                    blocks of 16 rows: a lane has two rows of each
//     b = ceil(ceil(columns / 8) / K)         blocks of 8 columns: a lane has two columns of each
//
// and what a warp does costs the same whether its part of the tile exists or is padding, so all is R K times:
//
//     a sum or maximum along rows        4 h       a row lies in a quad: two exchanges for each row of a lane
//     the same along columns             6 b       a column lies in eight lanes: three for each column of a lane
//     rows between registers and memory  h u ceil(2 b / u)
//                                                  a quad transposes units of a row in a block, 16 bytes a lane: of u =
//                                                  4 units of 16-bit elements, a word each, or of u = 2 of f32, two
//                                                  words each (lib/Lowering/GPU/QuadChunks.h); none if rows are not
//                                                  whole pieces
//     halves of rows change places       2 h s     s: over the elements of a row that a lane has, in how many registers
//     of the quad
//                                                  each is found; none where it is at home in every lane
//
// Sums of several warps go on through shared memory, and so do changes between rows and columns: no shuffles.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_SHUFFLES_H
#define ATTUNE_LIB_COST_SHUFFLES_H

#include "attune/Tile/Tile.h"

namespace attune::cost {

double shufflesAlongRows(tile::WarpGrid warps, double rows);
double shufflesAlongColumns(tile::WarpGrid warps, double columns);
/// Rows of `bytesEach` an element, in whole pieces of 16 bytes.
double shufflesOfMove(tile::WarpGrid warps, double rows, double columns, double bytesEach);
/// The partner of column c is c + d/2, or c − d/2, of d = `columns`; with one column of warps.
double shufflesOfHalves(tile::WarpGrid warps, double rows, int64_t columns);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_SHUFFLES_H
