//===- WindowTiles.h - How a window is cut into tiles -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for the kernels, which are built by it, and for the prices, which are told by it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TILE_WINDOWTILES_H
#define ATTUNE_TILE_WINDOWTILES_H

#include <cstdint>

namespace attune::tile {

/// Rows of a tile in a window of `window` tokens where a schedule asks for `rows`: the window if it is no longer than
/// that; else its largest divisor from 16 to `rows`, so that no tile has a ragged end; else `rows`.
inline int64_t windowTile(int64_t window, int64_t rows) {
  if (window <= rows)
    return window;
  for (int64_t divisor = rows; divisor >= 16; --divisor)
    if (window % divisor == 0)
      return divisor;
  return rows;
}

} // namespace attune::tile

#endif // ATTUNE_TILE_WINDOWTILES_H
