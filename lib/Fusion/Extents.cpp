//===- Extents.cpp - Where axes begin and end ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Extents.h"

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

Value fusion::countOf(TileBuilder &tiles, const Extent &extent, Value memory) {
  if (extent.window)
    return tiles.index(extent.window.getLength());
  return memory ? tiles.dim(memory, extent.dimension) : tiles.index(extent.count);
}

Value fusion::countOf(const TileSite &site, const Extent &extent) {
  return countOf(site.tiles(), extent, extent.memory ? site.argument(extent.memory) : Value());
}

Value fusion::limitOf(const TileSite &site, const Extent &extent, const WindowView &view) {
  if (!extent.lengths)
    return countOf(site, extent);
  TileBuilder &tiles = site.tiles();
  Value total = tiles.dim(site.argument(extent.memory), extent.dimension);
  Value length = kernel::lengthAt(tiles, site.argument(extent.lengths), site[Axis::Batch].first, total);
  return view.window ? kernel::tokensBelow(tiles, view, length) : length;
}

kernel::VisibleKeys fusion::bordersOf(const TileSite &site, const Stage &stage) {
  const Extent &extent = (*stage.extents)[stage.axis];
  Value limit = limitOf(site, extent, site[stage.axis].view);
  if (!extent.causal)
    return kernel::allKeys(site.tiles(), limit, stage.step);
  const AxisRange &rows = site[*extent.causal];
  Value rowCount = countOf(site, (*stage.extents)[*extent.causal]);
  kernel::CausalTile tile{rows.first, rows.count, rowCount, countOf(site, extent)};
  return kernel::keysBefore(site.tiles(), tile, limit, stage.step);
}

Value fusion::borderAt(TileBuilder &tiles, const kernel::VisibleKeys &borders, Border border) {
  switch (border) {
  case Border::Begin:
    return tiles.index(0);
  case Border::Seen:
    return borders.full;
  case Border::End:
    return borders.last;
  }
  llvm_unreachable("every border is above");
}
