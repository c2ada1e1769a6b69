//===- BatchSums.h - Sums over the entries of a batch -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_BATCHSUMS_H
#define ATTUNE_LIB_KERNEL_REGIONS_BATCHSUMS_H

#include "RegionPlanner.h"

namespace attune::kernel {

/// The sum of tiles of this shape over the entries of the batch.
fusion::Source sumOfBatch(const RegionPlanner &plan, fusion::Source each, llvm::ArrayRef<int64_t> shape);
/// The same of tiles of `count` heads, which are those of `Axis::SharedHead` at the site.
fusion::Source sumOfHeads(const RegionPlanner &plan, fusion::Source each, int64_t count, llvm::ArrayRef<int64_t> shape);

/// result [heads] = factor · Σ of all numbers [batch, heads, tokens] of a head.
fusion::KernelRegion numberSumRegion(const Problem &problem, const Tokens &numbers, double factor, mlir::Value result);

/// parts [batch, heads, features, width] = Σ rowsᵀ tokens of the tokens of each head, or parts [batch, heads, width] = Σ rows if there are no
/// tokens; of tokens that exist.
fusion::KernelRegion partsOfParameterRegion(const Problem &problem, const Tokens &rows, fusion::Source tokens, mlir::Value parts, int64_t width);
/// parameter [1 or heads, …] = Σ of all parts, which have its sizes behind batch and heads.
fusion::KernelRegion parameterGradientRegion(const Problem &problem, llvm::ArrayRef<mlir::Value> parts, mlir::Value parameter);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_BATCHSUMS_H
