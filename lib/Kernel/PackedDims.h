//===- PackedDims.h - What sizes of packed sequences count -*- C++ -*------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens of all sequences have one list, and so have blocks of B of them, with gaps. Those of sequence s begin at ⌊offsets[s] / B⌋ + s, which leaves each at least
// ⌈length / B⌉ of them, and one where it has no tokens, since ⌊(x + l) / B⌋ − ⌊x / B⌋ + 1 ≥ ⌈l / B⌉. There are ⌊T / B⌋ + S, which the
// host knows without the offsets.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PACKEDDIMS_H
#define ATTUNE_LIB_KERNEL_PACKEDDIMS_H

#include "TileBuilder.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// Rows that a sequence has beside those of its tokens: ⌈(length + added) / multiple⌉ · multiple in all.
struct Padding {
  int64_t added = 0, multiple = 1;

  bool isNone() const { return *this == Padding(); }
  bool operator==(const Padding &other) const = default;
  /// Each sequence has at most so many multiples more than ⌊length / multiple⌋: its rows begin at (⌊offset / multiple⌋ + its number · these) · multiple.
  int64_t multiplesMore() const { return (2 * multiple - 2 + added) / multiple; }
};

/// What a dimension of a memory counts, or an axis of a grid.
struct PackedDim {
  enum Kind { Other, One, Tokens, Blocks };

  Kind kind = Other;   ///< One: the entry that all tokens lie in
  char letter = 0;     ///< Tokens, Blocks: of q, or of k
  int64_t block = 1;   ///< Blocks: tokens of each
  Padding padding = {}; ///< Tokens, Blocks: of each sequence's rows, of which blocks are
  int64_t repeats = 1; ///< of an axis: so many programs for each of them, all of the first first
  bool ofEntries = false; ///< of an axis: blocks of all entries of the batch, those of the first one first

  bool isTokens() const { return kind == Tokens; }
  bool isBlocks() const { return kind == Blocks; }
  /// Of all sequences together.
  bool isOfAll() const { return isTokens() || isBlocks(); }
  /// Names the list that it is of.
  auto list() const { return std::tuple(kind, letter, block, padding.added, padding.multiple); }
};

using PackedDims = llvm::SmallVector<PackedDim, 6>;

/// A size on the host that is known: a constant, one that a type says, or a product or quotient of these.
std::optional<int64_t> numberOf(mlir::Value size);
/// What a size on the host is the size of.
PackedDim dimOf(mlir::Value size);
/// The dimensions of a memory on the host; none of a number.
PackedDims dimsOf(mlir::Value memory);

inline bool isOfAll(llvm::ArrayRef<PackedDim> dims) {
  return llvm::any_of(dims, [](const PackedDim &dim) { return dim.isOfAll(); });
}

/// The host's argument that cuts the tokens of a letter.
mlir::BlockArgument offsetsOnHost(mlir::func::FuncOp host, char letter);
/// How many sequences there are.
mlir::Value countOnHost(TileBuilder &tiles, mlir::func::FuncOp host);
/// Whether a size is that of an argument which has an entry for each sequence.
bool countsSequences(mlir::Value size);
/// Whether a size is that of tokens with such rows beside them, and not that of a memory that has them.
bool padsTokens(mlir::Value size);
/// How many rows all sequences have with those that each is padded by, of so many tokens in all.
mlir::Value rowsOnHost(TileBuilder &tiles, mlir::func::FuncOp host, const Padding &padding, mlir::Value size);
/// How many entries the list of all sequences has, where a size is that of one.
mlir::Value listOnHost(TileBuilder &tiles, mlir::func::FuncOp host, mlir::Value size);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PACKEDDIMS_H
