//===- Stages.h - A kernel as a sequence of loop nests and dots ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_STAGES_H
#define ATTUNE_LOWERING_CPU_STAGES_H

#include "Isa.h"
#include "Orders.h"

#include "llvm/ADT/SmallVector.h"

namespace attune::cpu {

/// A loop nest over one tile shape, a dot, two dots of a row each, a scan, a load that is read in place, a loop over the sequence, or an arrival.
struct Stage {
  enum class Kind { Nest, Dot, Dots, Scan, Place, Loop, Arrive, Any };
  Kind kind;
  SmallVector<Operation *> ops; ///< of a nest: in program order; of a dot: it, and the product with a tile that it ends with; of two dots: these; otherwise the one op
  SmallVector<int64_t> shape;   ///< of a nest
  Order order = Order::Row;     ///< of a nest: its inner loop runs over vectors of adjacent elements
  bool keepsInner = false;      ///< has reductions over the outer loop: their results lie in the lanes
  bool keepsOuter = false;      ///< has reductions over the inner loop: their results are scalars
};

/// The stages of a block, and which stage computes what.
struct Stages {
  Stages(Block &block, const Isa &target);

  SmallVector<Stage> list;
  llvm::DenseMap<Operation *, unsigned> stageOf;

  int64_t lanes() const { return target.lanes; }
  /// The stage of the op or of its ancestor in this block.
  unsigned find(Operation *op) const;
  /// Whether a tile of this block is used by another stage than the one that computes it.
  bool leavesStage(Value tile) const;
  /// Whether the stage reads elements of the tile elsewhere than at their own place.
  bool readsElsewhere(Value tile, unsigned position) const;
  /// The last stage that reads the tile, be it through expansions; none if it is not read.
  std::optional<unsigned> lastUse(Value tile) const;

private:
  Block &block;
  const Isa &target;
  unsigned lastLoad = 0, lastStore = 0;
  bool anyLoad = false, anyStore = false;
  SmallVector<Operation *> accesses; ///< loads and stores of this block
  /// Ops that join the nest of their first use; of loads the first stage in which memory is as they want it.
  llvm::DenseMap<Operation *, unsigned> waiting;

  void place(Operation *op);
  void placeInNest(Operation *op);
  void placeAlone(Operation *op);
  void settleOperands(Operation *op);
  void join(Operation *op, unsigned position, const Stage &wanted);
  bool mayWait(Operation *op) const;
  bool waits(Value tile) const;
  bool usedInNests(Value tile) const;
  void append(Stage::Kind kind, Operation *op);
  Stage *besideDot(tile::DotOp dot);
  bool absorbed(Operation *op) const;
  unsigned earliest(Operation *op) const;
  unsigned ready(Value operand) const;
  unsigned readyForPermutation(tile::PermuteColumnsOp op) const;
  unsigned afterLoads(tile::StoreOp store) const;
  bool storesInto(unsigned position, Value memory) const;
};

/// Whether an op computes with index or scalar values only.
bool isScalarOp(Operation *op);
/// Whether the op is a rank-1 tile of different f32 constants; such a tile is a table in the library.
bool isTable(Operation *op);


} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_STAGES_H
