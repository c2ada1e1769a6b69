//===- UsefulOperations.h - What mechanisms count their products with -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Multiply-adds throughout; docs/Performance.md has the formulas as a table, and a test holds benchmarks/cpu_operations.py to
// them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_USEFULOPERATIONS_H
#define ATTUNE_ATTN_USEFULOPERATIONS_H

#include "AttnVerify.h"

namespace attune::attn {

/// Sizes of an attention, all known. What its functions say is of one query head.
struct AttentionSizes {
  /// Queries [batch, H, n, d], keys [batch, G, N, d], values [batch, G, N, dv].
  AttentionSizes(mlir::Value query, mlir::Value key, mlir::Value value, bool causal = false);

  /// Every query with each of `keys` keys, those that a mask hides left out, weights being products of `width`.
  double pairs(double keys, double width) const;
  /// Blocks of `length` tokens, each with keys of its own.
  double blockPairs(double length, double width) const;
  /// All pairs, or those of a window's blocks.
  double pairs(std::optional<WindowAttr> window, double width) const;
  /// Of the last so many keys that a query sees.
  double pairs(std::optional<WindowAttr> window, std::optional<int64_t> last, double width) const;
  /// Through a state of m features by the values and the sum of weights: keys are added to it, queries read it. Causal
  /// chunks of C tokens take 2 (n - C) m (dv + 1) for states and n (C + 1) / 2 pairs, linear in C, so that the least is
  /// one of all pairs and of one token after another without a pair, which is this.
  double states(double m) const { return (n + shared * N) * m * (dv + 1); }
  /// Of all heads and entries of the batch.
  double ofAll(double ofHead) const { return batch * heads * ofHead; }

  double batch, heads, n, N, d, dv;
  double shared; ///< keys, or their features, of a head for each query head
  bool causal;
};

} // namespace attune::attn

#endif // ATTUNE_ATTN_USEFULOPERATIONS_H
