//===- ProductShape.h - The instructions of a product -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_PRODUCTSHAPE_H
#define ATTUNE_LIB_LOWERING_GPU_PRODUCTSHAPE_H

#include "attune/Tile/TileLayouts.h"

namespace attune::device {

/// A `tile.dot` as a warp multiplies it: C in blocks of 16 rows and 8 columns, k in blocks of 8.
struct ProductShape {
  mlir::Type element; ///< of the operands: f32, f16 or bf16
  int64_t rowBlocks, columnBlocks, kBlocks;
  bool isSplit;    ///< f32 that keeps its bits: both operands in two parts
  bool isBNarrow;  ///< B is stored in 16 bits and widened as it is read: numbers of tf32, which leave no second part

  explicit ProductShape(tile::DotOp dot);

  bool isTf32() const { return element.isF32(); }
  /// Products of one 16×8 block and 8 of k on tf32: a2 b1, a1 b2 and a1 b1.
  int64_t passes() const { return !isSplit ? 1 : isBNarrow ? 2 : 3; }
  /// Multiply-adds of a warp's instructions: m16n8k8 on tf32, else m16n8k16, or its part of one of its warpgroup.
  int64_t multiplyAdds() const;
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_PRODUCTSHAPE_H
