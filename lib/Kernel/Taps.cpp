//===- Taps.cpp - Weights of a convolution, tap by tap --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Taps.h"

#include "KernelFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

Value kernel::flatTaps(TileBuilder &tiles, Value weight) {
  if (cast<MemRefType>(weight.getType()).getRank() == 3)
    return weight;
  SmallVector<ReassociationIndices> groups{{0}, {1}, {2, 3}};
  return memref::CollapseShapeOp::create(tiles.builder, tiles.loc, weight, groups);
}

Value kernel::weightsOfTap(TileBuilder &tiles, Value weight, Value head, int64_t tap) {
  return weightsOfTap(tiles, weight, head, tap, tiles.index(0), cast<MemRefType>(weight.getType()).getDimSize(1));
}

Value kernel::weightsOfTap(TileBuilder &tiles, Value weight, Value head, int64_t tap, Value first, int64_t count) {
  Value column = tiles.load(weight, {head, first, tiles.index(tap)}, {count, 1});
  return tiles.reduceAdd(tiles.cast(column, tiles.builder.getF32Type()), 1);
}

Value kernel::columnsOf(TileBuilder &tiles, Value first, int64_t rows, int64_t columns) {
  // Of the first token the remainder is taken as an index: tokens of a long sequence would be inexact in f32.
  Value start = arith::RemUIOp::create(tiles.builder, tiles.loc, first, tiles.index(columns));
  Value token = tiles.iota(start, rows);
  return tiles.minus(token, tiles.times(floorDivide(tiles, token, columns), tiles.constant({rows}, columns)));
}
