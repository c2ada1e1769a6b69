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

/// `divisor` is at least 1 and divides a size that may be dynamic.
bool divides(int64_t divisor, int64_t size);

/// An error unless `type` has the sizes of `expected` (dynamic ones agree with all); `what` names the value.
mlir::LogicalResult checkShape(mlir::Operation *op, llvm::StringRef what, mlir::Type type,
                               llvm::ArrayRef<int64_t> expected);

/// An error unless the value has `rank` dimensions.
mlir::LogicalResult checkRank(mlir::Operation *op, llvm::StringRef what, mlir::Value value, int64_t rank);

/// A1: [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv], and G divides H.
mlir::LogicalResult checkTokens(mlir::Operation *op, mlir::Value query, mlir::Value key, mlir::Value value);

/// A2: the output is [batch, H, n, dv].
mlir::LogicalResult checkOutput(mlir::Operation *op, mlir::Value query, mlir::Value value, mlir::Value output);

/// A3: key lengths, if there are, are [batch].
mlir::LogicalResult checkLengths(mlir::Operation *op, mlir::Value lengths, int64_t batch);

/// A1, A2, A3 of a mechanism.
template <typename Mechanism> mlir::LogicalResult checkMechanism(Mechanism op) {
  if (failed(checkTokens(op, op.getQuery(), op.getKey(), op.getValue())) ||
      failed(checkOutput(op, op.getQuery(), op.getValue(), op.getOutput())))
    return mlir::failure();
  return checkLengths(op, op.getLengths(), op.getQuery().getType().getDimSize(0));
}

/// A4: scale is finite and > 0; other names have that range too.
mlir::LogicalResult checkPositive(mlir::Operation *op, llvm::StringRef what, const llvm::APFloat &value);

/// A9: as many queries as keys.
mlir::LogicalResult checkCausal(mlir::Operation *op, int64_t queries, int64_t keys);

/// A10: a state is of that shape, [batch, heads, m, dv], and its sum [batch, heads, m], which is there unless nothing `divides`.
mlir::LogicalResult checkState(mlir::Operation *op, mlir::Value state, mlir::Value sum, llvm::ArrayRef<int64_t> shape,
                               bool divides = true);

/// A20: the blocks of a window, if there is one, fill the sequence.
/// `last` of an op with `causal` and `window` (A62).
mlir::LogicalResult checkLast(mlir::Operation *op, std::optional<int64_t> last, bool causal, WindowAttr window);
mlir::LogicalResult checkWindow(mlir::Operation *op, WindowAttr window, int64_t queries, int64_t keys);

/// A21: omega is [1 or heads, m, d], focus [heads, d]; maps without a parameter have none. `heads` is 0 where the
/// parameter itself says how many there are.
mlir::LogicalResult checkParameter(mlir::Operation *op, FeatureMapAttr map, mlir::Value parameter, int64_t width,
                                   int64_t heads);

/// A25: a map with places has one for each token.
mlir::LogicalResult checkPlaces(mlir::Operation *op, FeatureMapAttr map, int64_t tokens);

/// The number of key-value heads divides the number of query heads.
/// [F] if `ofHeads`, [batch, F, tokens] or, if `entries` is not 0, [batch, F, tokens, entries].
mlir::LogicalResult checkGate(mlir::Operation *op, llvm::StringRef what, mlir::Value gate, llvm::ArrayRef<int64_t> tokens,
                              int64_t entries, bool ofHeads = false);

mlir::LogicalResult checkHeads(mlir::Operation *op, int64_t heads, int64_t sharedHeads);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
} // namespace attune::attn::checks

#endif // ATTUNE_ATTN_ATTNVERIFY_H
