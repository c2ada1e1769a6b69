//===- Arrive.cpp - Order between programs -*- C++ -*------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

using namespace mlir;
using namespace attune::tile;

LogicalResult ArriveOp::verify() {
  if (!(*this)->getParentOfType<KernelOp>())
    return emitOpError() << "expected to be inside a tile.kernel";
  if ((*this)->getParentOfType<LoopOp>())
    return emitOpError() << "expected each program to arrive once, but got a loop around it";
  auto type = llvm::cast<MemRefType>(getCounters().getType());
  int64_t rank = type.getRank();
  if (!isMemory(type) || !type.getElementType().isInteger(32) || type.getDimSize(rank - 1) != 2)
    return emitOpError() << "expected counters of two words, a memory of i32 whose last dimension is 2, but got " << type;
  if (static_cast<int64_t>(getIndices().size()) != rank - 1)
    return emitOpError() << "expected " << rank - 1 << " indices, one for each dimension but the last, but got "
                         << getIndices().size();
  return success();
}
