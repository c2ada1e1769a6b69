//===- Pieces.h - Pieces of a sequence, and parts of several -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys of a sequence are cut into pieces, whose states are summed up side by side. Pieces have a fixed length; but
// where a causal sequence is cut into parts that are chunked side by side, the parts have a fixed number and equal
// lengths of whole chunks, and each is cut into equally many pieces. Either way the cuts depend on N alone.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PIECES_H
#define ATTUNE_LIB_KERNEL_PIECES_H

#include "KernelFrame.h"

namespace attune::kernel {

/// Tokens first ≤ j < end.
struct TokenRange {
  mlir::Value first, end;
};

/// How a causal sequence is cut into parts that are worked on side by side, and each part into pieces.
struct SequenceCuts {
  int64_t parts, perPart; ///< how many parts at most, and pieces of each
  int64_t chunk;          ///< the tokens that no cut divides

  /// Tokens of a piece of a sequence of `all`.
  mlir::Value pieceLength(TileBuilder &tiles, mlir::Value all) const;
  template <typename Formula> Formula pieceLength(Formula all) const {
    int64_t chunks = parts * perPart * chunk;
    return (all + (chunks - 1)) / chunks * chunk;
  }
  /// Those of a part.
  mlir::Value partLength(TileBuilder &tiles, mlir::Value all) const;
  /// How many parts have tokens.
  mlir::Value partCount(TileBuilder &tiles, mlir::Value all) const;
};

/// Parts whose sums one kernel of gradients leaves side by side: memory grows by that many times such a sum, and no further.
inline constexpr int64_t partsOfGradients = 8;

/// The cuts of a problem's sequence.
SequenceCuts cutsOf(const Problem &problem, int64_t chunk);

/// The pieces of a problem's keys whose states are summed up: all, or those before the last part. `chunk`: the tokens
/// that no cut divides.
class Pieces {
public:
  explicit Pieces(const Problem &problem) : Pieces(problem, problem.keyTile()) {}
  Pieces(const Problem &problem, int64_t chunk);

  /// How many there are, in the host. Without keys there is one, of which the state is empty, where pieces are merged
  /// by the last.
  mlir::Value count(TileBuilder &host) const;
  /// How many parts have tokens, in the host.
  mlir::Value partCount(TileBuilder &host) const;

private:
  const Problem &problem;
  SequenceCuts cuts;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PIECES_H
