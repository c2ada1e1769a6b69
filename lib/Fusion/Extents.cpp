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
  if (extent.size)
    return extent.size.onHost(tiles);
  Value count = memory ? tiles.dim(memory, extent.dimension) : tiles.index(extent.count);
  if (extent.cuts)
    count = extent.cuts->partCount(tiles, count);
  return extent.evenNone ? tiles.max(count, tiles.index(1)) : count;
}

Value fusion::countOf(const TileSite &site, const Extent &extent) {
  if (extent.size)
    return extent.size.at(site);
  if (extent.shortLast) {
    const WindowView &view = site[Axis::Query].view.window ? site[Axis::Query].view : site[Axis::Key].view;
    return kernel::tokensBelow(site.tiles(), view, site.tiles().dim(site.argument(extent.memory), extent.dimension));
  }
  return countOf(site.tiles(), extent, extent.memory ? site.argument(extent.memory) : Value());
}

kernel::TokenRange fusion::partAt(const TileSite &site, const Extents &extents) {
  TileBuilder &tiles = site.tiles();
  const Extent &parts = extents[Axis::Part];
  Value all = tiles.dim(site.argument(parts.memory), parts.dimension), length = parts.cuts->partLength(tiles, all);
  Value first = kernel::multiply(tiles, site[Axis::Part].first, length);
  return {first, tiles.min(tiles.add(first, length), all)};
}

/// The entries of the piece at the site, below `limit`.
static kernel::TokenRange pieceAt(const TileSite &site, const Extents &extents, Value limit) {
  TileBuilder &tiles = site.tiles();
  const Extent &parts = extents[Axis::Part];
  Value all = tiles.dim(site.argument(parts.memory), parts.dimension), length = parts.cuts->pieceLength(tiles, all);
  Value first = kernel::multiply(tiles, site[Axis::Piece].first, length);
  return {first, tiles.min(tiles.add(first, length), limit)};
}

Value fusion::limitOf(const TileSite &site, const Extent &extent, const WindowView &view) {
  if (!extent.lengths)
    return countOf(site, extent);
  TileBuilder &tiles = site.tiles();
  Value total = tiles.dim(site.argument(extent.memory), extent.dimension);
  Value length = kernel::lengthAt(tiles, site.argument(extent.lengths), site[Axis::Batch].first, total);
  return view.window ? kernel::tokensBelow(tiles, view, length) : length;
}

/// The rows that a stage streams beside a tile of what they see: all but where these are causal.
static kernel::VisibleKeys rowsThatSee(const TileSite &site, const Stage &stage) {
  const Extent &rows = (*stage.extents)[stage.axis], &seen = (*stage.extents)[*rows.sees];
  const AxisRange &tile = site[*rows.sees];
  Value count = countOf(site, rows), limit = limitOf(site, seen, tile.view);
  if (!seen.causal)
    return {limit, count, count, Value()};
  return kernel::queriesFrom(site.tiles(), {tile.first, tile.count, count, countOf(site, seen), limit, seen.last}, stage.step);
}

kernel::VisibleKeys fusion::bordersOf(const TileSite &site, const Stage &stage) {
  const Extent &extent = (*stage.extents)[stage.axis];
  if (extent.ofPart) {
    kernel::TokenRange part = partAt(site, *stage.extents);
    if (extent.sees) // masks are of the keys that are seen
      return {limitOf(site, (*stage.extents)[*extent.sees], site[*extent.sees].view), Value(), part.end, Value(), part.first};
    Value limit = extent.lengths ? site.tiles().min(part.end, limitOf(site, extent, site[stage.axis].view)) : part.end;
    return {limit, Value(), part.end, Value(), part.first};
  }
  Value limit = limitOf(site, extent, site[stage.axis].view);
  if (extent.pastLengths)
    return {limit, Value(), countOf(site, extent), Value()};
  if (extent.within) {
    const AxisRange &range = site[*extent.within];
    TileBuilder &tiles = site.tiles();
    Value end = tiles.min(tiles.add(range.first, tiles.index(range.count)), limit);
    return {end, Value(), end, Value(), range.first};
  }
  if (extent.ofPiece) {
    kernel::TokenRange piece = pieceAt(site, *stage.extents, limit);
    return {limit, Value(), piece.end, Value(), piece.first};
  }
  if (extent.sees)
    return rowsThatSee(site, stage);
  if (!extent.causal)
    return kernel::allKeys(site.tiles(), limit, stage.step);
  const AxisRange &rows = site[*extent.causal];
  const Extent &ofRows = (*stage.extents)[*extent.causal];
  TileBuilder &tiles = site.tiles();
  kernel::CausalTile tile{rows.first, rows.count, countOf(site, ofRows), countOf(site, extent), extent.last};
  if (ofRows.heads == 1)
    return kernel::keysBefore(tiles, tile, limit, stage.step);
  tile.queries = tiles.div(tile.queries, ofRows.heads), tile.first = tiles.index(0), tile.isAll = true;
  kernel::VisibleKeys result = kernel::keysBefore(tiles, tile, limit, stage.step);
  result.heads = {ofRows.heads, tile.queries, rows.first};
  return result;
}

/// The first entry of the block that the tile of an axis lies in.
static Value blockAt(const TileSite &site, const Extents &extents, Axis axis) {
  TileBuilder &tiles = site.tiles();
  if (extents[axis].within)
    return site[*extents[axis].within].first;
  const AxisRange &range = site[axis];
  int64_t block = extents[axis].block, perBlock = llvm::divideCeil(block, range.count);
  if (perBlock == 1)
    return range.first;
  Value number = range.number ? tiles.div(range.number, perBlock) : tiles.div(range.first, block);
  return tiles.mul(number, block);
}

Value fusion::beginAt(const TileSite &site, const Stage &stage, const kernel::VisibleKeys &borders, const SegmentEnd &place) {
  if (place.index)
    return place.index.at(site);
  switch (place.border) {
  case Border::Begin:
    return borders.begin ? borders.begin : site.tiles().index(0);
  case Border::Entered:
    return borders.entered;
  case Border::Seen:
    return borders.full;
  case Border::End:
    return borders.last;
  case Border::Block:
    return blockAt(site, *stage.extents, *(*stage.extents)[stage.axis].causal);
  case Border::Rows:
    return site[*(*stage.extents)[stage.axis].causal].first;
  case Border::RowsEnd:
    break; // no segment begins behind the diagonal
  }
  llvm_unreachable("every border at which segments begin is above");
}

Value fusion::endAt(const TileSite &site, const Stage &stage, const kernel::VisibleKeys &borders, const SegmentEnd &place) {
  TileBuilder &tiles = site.tiles();
  if (!place.index && (place.border == Border::Rows || place.border == Border::Block))
    return tiles.min(beginAt(site, stage, borders, place), borders.limit);
  if (!place.index && place.border == Border::RowsEnd)
    return tiles.min(tiles.add(beginAt(site, stage, borders, Border::Rows), tiles.index(1)), borders.limit);
  return beginAt(site, stage, borders, place);
}
