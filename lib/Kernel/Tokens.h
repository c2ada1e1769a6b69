//===- Tokens.h - Tokens as kernels read them -*- C++ -*----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel rarely reads a tensor as it lies in memory: heads of a part are a slice, keys are rotated and normalised on the
// way. `Tokens` says where tokens lie and what is done to each of them in the load, so that every family of kernels reads
// every kind of tokens.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_TOKENS_H
#define ATTUNE_LIB_KERNEL_TOKENS_H

#include "TileBuilder.h"
#include "attune/Attn/Attn.h"

#include <optional>

namespace attune::kernel {

/// What is done to every token in the load: RoPE or the normalisation of q and k.
struct TokenStep {
  enum class Kind { Rope, Norm, L2 } kind;
  double number;      ///< rope: base; norm, l2: epsilon
  bool half = false;  ///< rope: pairs (i, i + d/2) instead of (2i, 2i + 1)
  bool backwards = false; ///< rope: by the negative angle
  mlir::Value offset; ///< rope: position of token 0, an index of the host, or in i32 a memory [batch] of those of all entries; null: 0


  /// The memory, if every entry has a position of its own.
  mlir::Value positions() const { return offset && mlir::isa<mlir::MemRefType>(offset.getType()) ? offset : mlir::Value(); }
};

/// A projection in the load: the memory is its input x [batch, tokens, D].
struct TokenProjection {
  mlir::Value weight; ///< [D, heads · width], or [heads, D, width] where `prepare` has packed or folded it
  mlir::Value bias;   ///< [heads · width]; null if there is none
  bool transposed = false; ///< the weight is [heads · width, D]
};

/// Tokens [batch, heads, tokens, width] of the host function.
struct Tokens {
  mlir::Value memory;    ///< [batch, heads of the memory, tokens, width], or x; null if there are none
  int64_t firstHead = 0; ///< the head of the memory that is head 0 of these tokens
  int64_t heads = 0;
  int64_t width = 0;
  llvm::SmallVector<TokenStep, 2> steps;
  std::optional<TokenProjection> projection = std::nullopt; ///< before the steps

  explicit operator bool() const { return static_cast<bool>(memory); }
};

/// How many tokens a memory [batch, heads, tokens, width] has, or an input [batch, tokens, D].
mlir::Value tokenCount(TileBuilder &tiles, mlir::Value memory);

/// (x − mean) / sqrt(variance + ε) of each row of x [rows, width].
mlir::Value normalizeRows(TileBuilder &tiles, mlir::Value x, double epsilon);
/// x / sqrt(Σ x² + ε) of each row.
mlir::Value divideByNorm(TileBuilder &tiles, mlir::Value x, double epsilon);
/// x̄ of either (`l2`: the second one) from what reaches its result.
mlir::Value normGradient(TileBuilder &tiles, mlir::Value x, mlir::Value cotangent, double epsilon, bool l2);
/// Columns from `first` on, of rows of `width`.
struct ColumnsOf {
  int64_t first, width;
};
/// x cos + partner · (∓ sin) for columns x of rows, each beside the other of its pair.
mlir::Value rotate(TileBuilder &tiles, mlir::Value x, llvm::function_ref<mlir::Value()> partner, ColumnsOf of,
                   mlir::Value positions, const TokenStep &step);
/// x cos + partner · (∓ sin): the pairs of x [rows, width] rotated by their turns at `positions` [rows].
mlir::Value rotate(TileBuilder &tiles, mlir::Value x, mlir::Value positions, const TokenStep &step);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_TOKENS_H
