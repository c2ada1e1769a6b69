//===- LastPiece.cpp - What the last of several grid points does -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LastPiece.h"

#include "attune/Tile/Tile.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::counterWorkspace(BuildSite &site, Value batch, int64_t heads) {
  auto type = MemRefType::get({ShapedType::kDynamic, heads, 2}, site.host.getI32Type());
  return tile::WorkspaceOp::create(site.host, site.loc, type, batch);
}

void kernel::inLastPiece(TileBuilder &tiles, Value counters, ValueRange indices, Value count,
                         llvm::function_ref<void(TileBuilder &tiles)> merge) {
  Value last = tile::ArriveOp::create(tiles.builder, tiles.loc, tiles.builder.getIndexType(), counters, indices, count);
  // Once, or not at all.
  loop(tiles, tiles.sums(), tiles.index(0), last, 1, {}, [&](TileBuilder &inner, Value, ValueRange) {
    merge(inner);
    return SmallVector<Value>();
  });
}
