//===- ExecutedCounts.h - What kernels do, counted as they run -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The judge of counts: the interpreter runs every program of every launch, and each op that it comes to is counted,
// elements of memory one row after another by the letter of `tile.load`. Nothing of lib/Cost is used.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_COUNTS_EXECUTEDCOUNTS_H
#define ATTUNE_TEST_UNIT_COUNTS_EXECUTEDCOUNTS_H

#include "attune/Cost/KernelCounts.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

#include <map>
#include <string>
#include <vector>

namespace attune::test {

struct RunSizes {
  int64_t batch = 1, queries = 1, keys = 1;
};

/// By the names of kernels.
using CountsOfKernels = std::map<std::string, tile::OpCount>;

/// A dimension of an argument of a host function.
int64_t sizeOf(mlir::func::FuncOp host, unsigned argument, unsigned dimension, const RunSizes &sizes);

/// Whether the host function takes these sizes.
bool takes(mlir::func::FuncOp host, const RunSizes &sizes);

/// Runs the kernels, and calls `count` with every op that is executed. All sequences have their full length.
void runKernels(mlir::func::FuncOp host, const RunSizes &sizes,
                const std::function<void(const reference::ExecutedOp &)> &count,
                cost::Branches branches = cost::Branches::Usual);

/// Counted while the kernels run. All sequences have their full length.
CountsOfKernels executedCounts(mlir::func::FuncOp host, const RunSizes &sizes, cost::Branches branches);

/// Counted from the IR alone.
CountsOfKernels compiledCounts(mlir::func::FuncOp host, const RunSizes &sizes, cost::Branches branches);

/// Every host function of the module, at all sizes of a list that it takes; the number of comparisons.
int checkCounts(mlir::ModuleOp module, llvm::ArrayRef<RunSizes> sizes);

/// A context with the dialects and what their ops do.
std::unique_ptr<mlir::MLIRContext> countsContext();

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_COUNTS_EXECUTEDCOUNTS_H
