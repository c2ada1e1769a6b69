//===- StateTiles.h - States of kernel attention as tiles -*- C++ -*-----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is carried as S [columns, dv] and z [columns] for each block of features, in this order; in memory the blocks
// lie one below the other.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_STATETILES_H
#define ATTUNE_LIB_KERNEL_STATETILES_H

#include "FeatureMaps.h"

namespace attune::kernel {

/// Where a state lies: S at state[indices…, feature, value], z at sum[indices…, feature].
struct StatePlace {
  mlir::Value state, sum;
  llvm::SmallVector<mlir::Value, 3> indices;
};

llvm::SmallVector<mlir::Value> zeroState(TileBuilder &tiles, const FeatureMap &map, int64_t valueWidth);
llvm::SmallVector<mlir::Value> loadState(TileBuilder &tiles, const FeatureMap &map, int64_t valueWidth,
                                         const StatePlace &place);
void storeState(TileBuilder &tiles, const FeatureMap &map, mlir::ValueRange state, const StatePlace &place);

/// The state with bᵀ [v 1] added.
llvm::SmallVector<mlir::Value> addKeys(TileBuilder &tiles, mlir::ValueRange state, const Features &b, mlir::Value v,
                                       mlir::Type operand);

/// a S [rows, dv] and a z [rows].
std::pair<mlir::Value, mlir::Value> readState(TileBuilder &tiles, mlir::ValueRange state, const Features &a,
                                                mlir::Type operand);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_STATETILES_H
