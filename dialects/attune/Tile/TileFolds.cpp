//===- TileFolds.cpp - Folds of the tile dialect -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Sequence.h"

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

/// At most one step has no direction.
LogicalResult LoopOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult> &) {
  auto lower = dyn_cast_or_null<IntegerAttr>(adaptor.getLower());
  auto upper = dyn_cast_or_null<IntegerAttr>(adaptor.getUpper());
  if (!getReverse() || !lower || !upper || (lower.getValue() + getStep()).slt(upper.getValue()))
    return failure();
  setReverse(false);
  return success();
}

/// The identity, and a tile of equal elements, stay what they are; two permutations are one.
OpFoldResult PermuteColumnsOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> order = getPermutation();
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())) || splatValue(getSource()))
    return getSource();
  auto inner = getSource().getDefiningOp<PermuteColumnsOp>();
  if (!inner)
    return {};
  auto both = llvm::map_to_vector(order, [&](int64_t column) { return inner.getPermutation()[column]; });
  setPermutation(both);
  getSourceMutable().assign(inner.getSource());
  return getResult();
}
