//===- Schedule.h - Tile sizes when no cost model has chosen them -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_SCHEDULE_H
#define ATTUNE_KERNEL_SCHEDULE_H

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// The storage type: the narrowest of the results, of which states, denominators and lse are in f32 whatever tokens are in; positions have none. Null if
/// none has one.
mlir::Type storageOf(mlir::func::FuncOp function);

/// 64×64 tiles and pieces of 2,048 keys. Operands of products are f32 on a CPU and the storage type on a GPU.
tile::ScheduleAttr defaultSchedule(tile::TargetKind target, mlir::Type storage);

} // namespace attune::kernel

#endif // ATTUNE_KERNEL_SCHEDULE_H
