//===- CompressFirst.h - Compressions that go before the projection -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// E (x W + 1 βᵀ) = (E x) W + (E 1) βᵀ. Selection may say that the right side is to be computed. What the op means stays the
// same; whoever computes it looks through its source, a projection, at x.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_COMPRESSFIRST_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_COMPRESSFIRST_H

#include "attune/Attn/Execution.h"

namespace attune::attn {

/// Columns of x that E meets at a time.
inline constexpr int64_t inputColumns = 64;

/// The projection that such a compression goes before; null for others.
inline ProjectOp projectionAfter(CompressOp op) {
  return executionOf(op).form == TermForm::CompressFirst ? op.getSource().getDefiningOp<ProjectOp>() : ProjectOp();
}

/// Whether all that reads the projection are such compressions, so that tokens are never projected one by one.
inline bool projectsSlotsOnly(ProjectOp op) {
  return llvm::all_of(op->getUsers(), [](mlir::Operation *user) {
    auto compress = mlir::dyn_cast<CompressOp>(user);
    return compress && projectionAfter(compress);
  });
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_COMPRESSFIRST_H
