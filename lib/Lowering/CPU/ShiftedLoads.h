//===- ShiftedLoads.h - Loads of one memory at neighbouring rows ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The taps of a convolution read the same rows, each from another row on. Row r + 1 of a load is row r of the load that
// begins one row later, so that a loop over rows needs to read only the last of such a run of loads.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_SHIFTEDLOADS_H
#define ATTUNE_LOWERING_CPU_SHIFTEDLOADS_H

#include "attune/Tile/Tile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace attune::cpu {

/// Where a load's rows begin, as an index and a distance from it: in the memory, or of a fold in the window.
std::pair<mlir::Value, int64_t> firstRow(tile::LoadOp load);

/// Whether two loads read the same tile of a memory but for a shift of its rows.
bool isShifted(tile::LoadOp a, tile::LoadOp b);

/// Two loads or more, each of which begins a row after the one before and finds the same rows to exist.
using RunOfLoads = llvm::SmallVector<tile::LoadOp, 3>;

/// The runs among the ops; no load is in two.
llvm::SmallVector<RunOfLoads> runsOfLoads(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_SHIFTEDLOADS_H
