//===- OnlineSoftmax.h - The carry of softmax: maximum, sum, accumulator -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_ONLINESOFTMAX_H
#define ATTUNE_LIB_KERNEL_ONLINESOFTMAX_H

#include "TileBuilder.h"

namespace attune::kernel {

/// Online softmax of a tile of queries against tiles of keys. Scores are in units of log 2, so that weights are exp2.
struct OnlineSoftmax {
  int64_t rows;       ///< Tq
  int64_t valueWidth; ///< dv
  mlir::Type operand; ///< element type of the operands of the product with the values

  /// m = −∞ [Tq], l = 0 [Tq], acc = 0 [Tq, dv].
  llvm::SmallVector<mlir::Value> start(TileBuilder &tiles) const;

  /// m' = max(m, max_j s), α = exp2(m − m'), w = exp2(s − m'): l' = α l + Σ_j w, acc' = α acc + w v, for scores s [Tq, Tk]
  /// and values v [Tk, dv]. `masked`: a row of s may be −∞ all along.
  llvm::SmallVector<mlir::Value> step(TileBuilder &tiles, mlir::ValueRange carried, mlir::Value scores, mlir::Value v,
                                      bool masked) const;

  /// acc / l [Tq, dv], 0 where l = 0.
  mlir::Value finish(TileBuilder &tiles, mlir::ValueRange carried) const;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_ONLINESOFTMAX_H
