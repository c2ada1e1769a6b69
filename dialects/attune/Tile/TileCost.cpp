//===- TileCost.cpp - What one execution of an op of tile does ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Tile/Tile.h"

using namespace mlir;
using namespace attune::tile;

#include "attune/Tile/TileCostInterface.cpp.inc"

/// One operation for each element of a tile.
static OpCount each(Type tile, Counted what = Counted::Elementwise) {
  return OpCount::of(what, static_cast<double>(cast<RankedTensorType>(tile).getNumElements()));
}

static Counted operandsOf(DotOp dot) {
  Type type = cast<RankedTensorType>(dot.getA().getType()).getElementType();
  if (type.isF16())
    return Counted::MacsF16;
  if (type.isBF16())
    return Counted::MacsBF16;
  return dot.getPrecision() == Precision::TF32 ? Counted::MacsTF32 : Counted::MacsF32;
}

OpCount DotOp::getCount() { return OpCount::of(operandsOf(*this), double(getM()) * double(getN()) * double(getK())); }

OpCount ReduceOp::getCount() { return each(getSource().getType()); }
OpCount IotaOp::getCount() { return each(getType()); }
OpCount PermuteColumnsOp::getCount() { return each(getType()); }
OpCount MaskOp::getCount() { return each(getType()); }
OpCount AnyOp::getCount() { return each(getTile().getType()); }
OpCount SineOp::getCount() { return each(getType(), Counted::Sines); }
OpCount CosineOp::getCount() { return each(getType(), Counted::Sines); }

template <typename Op> static MemoryAccess accessOf(Op op, Value memory, Type tile, bool stores) {
  return {memory,        cast<RankedTensorType>(tile),           op.getIndices(),
          op.getLower(), op.getRows(),                           op.getFold(),
          static_cast<int64_t>(op.getColumns().value_or(0)),     static_cast<int64_t>(op.getStride().value_or(0)),
          stores};
}

std::optional<MemoryAccess> LoadOp::getAccess() { return accessOf(*this, getSource(), getType(), /*stores=*/false); }
std::optional<MemoryAccess> StoreOp::getAccess() {
  return accessOf(*this, getTarget(), getValue().getType(), /*stores=*/true);
}
