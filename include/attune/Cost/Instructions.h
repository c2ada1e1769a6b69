//===- Instructions.h - What a target makes of an op -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops say what they do, whatever they are executed on (`tile::CostOpInterface`). How a target does it is known by whoever lowers them to
// it: its instructions compute whole vectors or fragments, and ask memory for a tile in their own way.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_INSTRUCTIONS_H
#define ATTUNE_COST_INSTRUCTIONS_H

#include "attune/Tile/Tile.h"

namespace attune::cost {

/// What the instructions of one execution of an op do.
struct Issued {
  tile::OpCount count;
  double shuffles = 0; ///< on a GPU: instructions of warps by which lanes exchange words

  void add(const Issued &other, double times = 1) {
    count.add(other.count, times);
    shuffles += times * other.shuffles;
  }
  bool operator==(const Issued &) const = default;
};

/// How a target asks memory for a tile.
struct Requests {
  double copies = 1;             ///< how often each element is asked for
  int64_t pieceBytes = 0;        ///< of a request where rows are aligned for it; 0: elements are asked for as they come
  bool onlyWholePieces = false;  ///< a row that does not end with a piece is asked for in no pieces at all
  double shufflesInPieces = 0;   ///< what lanes exchange where pieces are asked for
};

class Instructions {
public:
  virtual ~Instructions() = default;

  /// What the op says of itself.
  virtual Issued issuedFor(mlir::Operation *op) const {
    auto counted = llvm::dyn_cast<tile::CostOpInterface>(op);
    return {counted ? counted.getCount() : tile::OpCount(), 0};
  }
  virtual Requests requestsFor(mlir::Operation *) const { return {}; }
  /// Whether the target knows an op that says nothing of itself.
  virtual bool knows(mlir::Operation *) const { return false; }
};

} // namespace attune::cost

#endif // ATTUNE_COST_INSTRUCTIONS_H
