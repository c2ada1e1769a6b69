//===- FusedState.h - A state and its readout in one kernel -*- C++ -*--===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_FUSEDSTATE_H
#define ATTUNE_LIB_KERNEL_FUSEDSTATE_H

#include "KernelFrame.h"

#include <functional>

namespace attune::kernel {

/// What a family does at one grid point: the state of no key, a tile of keys added, a tile of queries read.
struct StateSteps {
  tile::CarryAttrInterface carry;
  llvm::SmallVector<mlir::Value> empty;
  std::function<llvm::SmallVector<mlir::Value>(TileBuilder &tiles, mlir::Value firstKey, mlir::ValueRange state)> add;
  /// After the last key; null: the state is as it was carried.
  std::function<llvm::SmallVector<mlir::Value>(TileBuilder &tiles, mlir::ValueRange state)> finish;
  /// o [Tq, dv] of the queries first … of one head.
  std::function<mlir::Value(TileBuilder &tiles, const TokenReader &query, mlir::Value first, mlir::ValueRange state)> read;
};

/// `heads`: those that have states of their own, which the grid counts. `values`: what the kernel takes beside queries,
/// keys, values, lengths and output. `prepare` is called at the begin of the kernel, with the number of keys that exist.
void buildFusedState(BuildSite &site, const Problem &problem, int64_t heads, llvm::ArrayRef<mlir::Value> values,
                     llvm::function_ref<StateSteps(KernelFrame &frame, const Point &point, mlir::Value limit)> prepare);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_FUSEDSTATE_H
