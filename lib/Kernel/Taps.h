//===- Taps.h - Weights of a convolution, tap by tap -*- C++ -*-------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_TAPS_H
#define ATTUNE_LIB_KERNEL_TAPS_H

#include "TileBuilder.h"

namespace attune::kernel {

/// The memory with the last two dimensions of weight [heads, dv, 3, 3] as one.
mlir::Value flatTaps(TileBuilder &tiles, mlir::Value weight);

/// t mod columns of the tokens first … : [rows].
mlir::Value columnsOf(TileBuilder &tiles, mlir::Value first, int64_t rows, int64_t columns);

/// The weights of one tap of every channel [dv], in f32, of [heads, dv, taps].
mlir::Value weightsOfTap(TileBuilder &tiles, mlir::Value weight, mlir::Value head, int64_t tap);
/// The same of `count` channels from `first` on.
mlir::Value weightsOfTap(TileBuilder &tiles, mlir::Value weight, mlir::Value head, int64_t tap, mlir::Value first, int64_t count);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_TAPS_H
