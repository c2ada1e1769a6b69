//===- TileFolds.cpp - Folds of the tile dialect -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attune::tile;

/// A mask whose every condition is a constant that holds for the whole tile keeps it whole.
OpFoldResult MaskOp::fold(FoldAdaptor adaptor) {
  auto shape = cast<RankedTensorType>(getSource().getType()).getShape();
  auto holds = [](Value bound, Attribute constant, int64_t least) {
    auto value = dyn_cast_or_null<IntegerAttr>(constant);
    return !bound || (value && value.getInt() >= least);
  };
  // j ≤ i + diagonal is hardest for i = 0 and the last column.
  bool whole = holds(getRows(), adaptor.getRows(), shape[0]) &&
               holds(getCols(), adaptor.getCols(), shape.back()) &&
               holds(getDiagonal(), adaptor.getDiagonal(), shape.back() - 1);
  return whole ? OpFoldResult(getSource()) : OpFoldResult();
}
