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

class KernelFrame;
struct Problem;

/// What is done to every token in the load: RoPE or the normalisation of q and k.
struct TokenStep {
  enum class Kind { Rope, Norm } kind;
  double number;      ///< rope: base; norm: epsilon
  bool half = false;  ///< rope: pairs (i, i + d/2) instead of (2i, 2i + 1)
  mlir::Value offset; ///< rope: position of token 0, an index of the host; null: 0
};

/// A projection in the load: the memory is its input x [batch, tokens, D].
struct TokenProjection {
  mlir::Value weight; ///< [D, heads · width], or [heads, D, width] where `prepare` has packed or folded it
  mlir::Value bias;   ///< [heads · width]; null if there is none
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

/// Where a grid point works.
struct Point {
  mlir::Value batch;  ///< entry of the batch
  mlir::Value head;   ///< head of the tokens that the grid counts
  mlir::Value window; ///< number of the window; null without windows
  mlir::Value origin; ///< the memory row of the window's first token; null without windows
};

/// Reads tiles of tokens at one grid point. Rows are counted from the window's first token.
class TokenReader {
public:
  /// `headsOfGrid`: how many heads the grid's head axis has; tokens with fewer heads are shared by them.
  TokenReader(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Tokens &tokens,
              const Point &point, int64_t headsOfGrid);

  /// Tokens first … first + rows − 1 [rows, width], those at or past `limit` and below `lower` zero; the memory's element type, or f32 if a
  /// step changes them.
  mlir::Value load(TileBuilder &tiles, mlir::Value first, int64_t rows, mlir::Value limit = mlir::Value(),
                   mlir::Value lower = mlir::Value()) const;

  /// Some columns of them [rows, columns]: of tokens that lie in memory as they are.
  mlir::Value loadColumns(TileBuilder &tiles, mlir::Value first, int64_t rows, int64_t column, int64_t columns,
                          mlir::Value limit = mlir::Value()) const;

  int64_t width() const { return tokens.width; }

private:
  mlir::Value project(TileBuilder &tiles, mlir::Value first, int64_t rows, mlir::Value limit) const;

  const KernelFrame &frame;
  const Problem &problem;
  const Tokens &tokens;
  const Point &point;
  mlir::Value head; ///< of the memory
};

/// How many tokens a memory [batch, heads, tokens, width] has, or an input [batch, tokens, D].
mlir::Value tokenCount(TileBuilder &tiles, mlir::Value memory);

/// The positions in the sequence of tokens first … first + rows − 1 of a window: [rows], f32.
mlir::Value positions(TileBuilder &tiles, const Problem &problem, const Point &point, mlir::Value first, int64_t rows);

/// (x − mean) / sqrt(variance + ε) of each row of x [rows, width].
mlir::Value normalizeRows(TileBuilder &tiles, mlir::Value x, double epsilon);
/// x cos + partner · (∓ sin): the pairs of x [rows, width] rotated by their turns at `positions` [rows].
mlir::Value rotate(TileBuilder &tiles, mlir::Value x, mlir::Value positions, const TokenStep &step);

/// The steps on a tile x [rows, width] of tokens. `positions` makes their positions [rows] in f32, counted from `offset`
/// (null: 0).
mlir::Value applySteps(TileBuilder &tiles, const KernelFrame &frame, const Tokens &tokens, mlir::Value x,
                       llvm::function_ref<mlir::Value(mlir::Value offset)> positions);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_TOKENS_H
