//===- Projection.cpp - Products with the weights of a layer -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"
#include "attune/Tile/KernelSizes.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using tile::modelTile;

Value kernel::addBias(TileBuilder &tiles, Value x, Value bias, Value first) {
  if (!bias)
    return x;
  SmallVector<int64_t> shape(tiles.shape(x));
  Value b = tiles.cast(tiles.load(bias, first, shape[1]), tiles.builder.getF32Type()); // [columns]
  return tiles.plus(x, tiles.expand(b, 0, shape));
}

Value kernel::timesWeight(TileBuilder &tiles, Type operand, Value x, Value w, Value acc) {
  Type f32 = tiles.builder.getF32Type();
  if (!operand.isF32() && cast<RankedTensorType>(w.getType()).getElementType().isF32())
    return tiles.exactDot(tiles.cast(x, f32), w, acc);
  return tiles.dot(tiles.cast(x, operand), tiles.cast(w, operand), acc);
}

Value kernel::projectTile(TileBuilder &tiles, Type operand, Value model, int64_t rows, Value weight, Value head,
                          int64_t width, llvm::function_ref<Value(TileBuilder &tiles, Value column)> load) {
  Value c0 = tiles.index(0), firstColumn = tiles.mul(head, width);
  bool prepared = cast<MemRefType>(weight.getType()).getRank() == 3;
  auto step = [&](TileBuilder &inner, Value column, ValueRange carried) -> SmallVector<Value> {
    Value a = load(inner, column);                                           // [T, 64]
    SmallVector<Value, 3> place{column, firstColumn};
    if (prepared)
      place = {head, column, c0};
    Value w = inner.load(weight, place, {modelTile, width});                 // [64, width]
    return {timesWeight(inner, operand, a, w, carried[0])};
  };
  return loop(tiles, tiles.sums(), c0, model, modelTile, tiles.constant({rows, width}, 0), step)[0]; // [T, width]
}
