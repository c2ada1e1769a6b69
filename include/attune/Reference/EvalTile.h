//===- EvalTile.h - Interpreter of the tile dialect ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes a host function and its kernels over arrays, slowly and by the letter of the ops' descriptions. What the
// dialect forbids is an error at the op: an index out of bounds, a negative grid, two grid points that meet in memory.
// An op that it does not know is an error that names it.
//
// In the faithful mode every result is rounded to its element type. A dot product adds in order of k, each product
// exact and each sum rounded to f32; a reduction adds in order of the index, rounded to f32. In the ideal mode nothing
// is rounded: a constant of f32 is the number that `#tile.exact` says, where it says one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_EVALTILE_H
#define ATTUNE_REFERENCE_EVALTILE_H

#include "attune/Reference/Array.h"
#include "attune/Reference/Rounding.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <variant>

namespace attune::reference {

/// An op of a kernel that is about to be executed, at one grid point: what its indices and memories are there.
struct ExecutedOp {
  mlir::Operation &op;
  llvm::function_ref<int64_t(mlir::Value)> integer;
  llvm::function_ref<const Array &(mlir::Value)> memory;
};

struct EvalTileOptions {
  Precision precision = Precision::Ideal;
  /// Grid points run in an order shuffled by it: a kernel whose result depends on the order gives itself away.
  uint64_t seed = 0;
  /// An element that one grid point of a launch writes and another one reads or writes is an error.
  bool checkRaces = true;
  /// If set, it is called for each op of a kernel that makes or stores a tile, and no tile is computed: what is
  /// executed depends on scalars alone.
  std::function<void(const ExecutedOp &)> count = nullptr;
};

/// An index, i64 or i32; an f32; a memory.
using Argument = std::variant<int64_t, double, Array>;

/// Runs a host function; results appear in the arrays that it writes. Errors are diagnostics at the op.
mlir::LogicalResult evalTile(mlir::func::FuncOp host, llvm::ArrayRef<Argument> arguments,
                             const EvalTileOptions &options = {});

/// Runs one kernel over a grid.
mlir::LogicalResult evalKernel(tile::KernelOp kernel, llvm::ArrayRef<int64_t> grid, llvm::ArrayRef<Argument> arguments,
                               const EvalTileOptions &options = {});

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_EVALTILE_H
