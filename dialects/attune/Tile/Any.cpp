//===- Any.cpp - What numbers decide -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

using namespace mlir;
using namespace attune::tile;

bool LoopOp::isBranch() { return getLower().getDefiningOp<AnyOp>() || getUpper().getDefiningOp<AnyOp>(); }

LogicalResult AnyOp::verify() {
  auto type = cast<RankedTensorType>(getTile().getType());
  if (type.getRank() != 1 || !type.hasStaticShape() || !type.getElementType().isF32())
    return emitOpError() << "expected a tile of rank 1 in f32, but got " << type;
  return success();
}
