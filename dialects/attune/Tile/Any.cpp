//===- Any.cpp - What numbers decide -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Any.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace attune::tile;

#define GET_OP_CLASSES
#include "attune/Tile/TileAny.cpp.inc"

LogicalResult AnyOp::verify() {
  auto type = cast<RankedTensorType>(getTile().getType());
  if (type.getRank() != 1 || !type.hasStaticShape() || !type.getElementType().isF32())
    return emitOpError() << "expected a tile of rank 1 in f32, but got " << type;
  return success();
}
