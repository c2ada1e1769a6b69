//===- AttnVerify.h - Checks that several ops share -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTNVERIFY_H
#define ATTUNE_ATTN_ATTNVERIFY_H

#include "attune/Attn/Attn.h"

namespace attune::attn::checks {
/// Sizes that may be dynamic agree.
bool agree(int64_t a, int64_t b);

/// An error unless `type` has the sizes of `expected` (dynamic ones agree with all); `what` names the value.
mlir::LogicalResult checkShape(mlir::Operation *op, llvm::StringRef what, mlir::Type type,
                               llvm::ArrayRef<int64_t> expected);

/// A1: [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv] of one element type, and G divides H.
mlir::LogicalResult checkTokens(mlir::Operation *op, mlir::Value query, mlir::Value key, mlir::Value value);

/// A2: the output is [batch, H, n, dv] of the query's element type.
mlir::LogicalResult checkOutput(mlir::Operation *op, mlir::Value query, mlir::Value value, mlir::Value output);

/// A3: key lengths, if there are, are [batch].
mlir::LogicalResult checkLengths(mlir::Operation *op, mlir::Value lengths, int64_t batch);

/// A10: a state is [batch, G, m, dv] and its sum [batch, G, m].
mlir::LogicalResult checkState(mlir::Operation *op, mlir::Value state, mlir::Value sum, int64_t batch, int64_t heads,
                               int64_t features, int64_t width);

/// The number of key-value heads divides the number of query heads.
mlir::LogicalResult checkHeads(mlir::Operation *op, int64_t heads, int64_t sharedHeads);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
} // namespace attune::attn::checks

#endif // ATTUNE_ATTN_ATTNVERIFY_H
