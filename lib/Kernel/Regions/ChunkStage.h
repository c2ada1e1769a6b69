//===- ChunkStage.h - Causal attention chunk by chunk, whatever is carried -*- C++ -*- -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head);  state = what came before
//     for each chunk of queries and keys:  outputs, from the state before the chunk and from its pairs;  its keys enter the state
//
// The sequence may be cut into parts that run side by side: then the grid counts parts as well, and the state begins with what the
// pieces of the parts before it leave.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_CHUNKSTAGE_H
#define ATTUNE_LIB_KERNEL_REGIONS_CHUNKSTAGE_H

#include "Planner/StateRules.h"
#include "RegionPlanner.h"
#include "StateMemory.h"

namespace attune::kernel {

class ChunkStage {
public:
  explicit ChunkStage(const Problem &problem);

  /// The heads that the grid counts: those of queries, or those that groups of them share.
  fusion::Axis head() const { return problem.grouped ? fusion::Axis::SharedHead : fusion::Axis::Head; }
  int64_t heads() const { return problem.grouped ? problem.sharedHeads() : problem.heads(); }
  /// Where queries and keys are read.
  Place rows() const { return {fusion::Axis::Query, fusion::Axis::Head, problem.heads()}; }
  Place keys() const { return {fusion::Axis::Key, head(), heads()}; }

  /// The stage over chunks, and the region that runs it.
  fusion::Stage stage() const;
  fusion::KernelRegion region(fusion::Source stage) const;

  /// The extents of a kernel whose grid counts the pieces of all parts but the first, of which `spans` has memory: its stages stream those.
  std::shared_ptr<const fusion::Extents> piecesBehind(const StateMemory &spans) const;
  /// Where the span of the piece at a site of such a kernel lies.
  fusion::Dimension spanOfPiece() const;

  /// Stores what is carried behind the last chunk, before the first one in `reverse`, or what is made of it, once for all programs that carry it.
  void store(fusion::KernelRegion &region, const fusion::Source &state, StateMemory result, bool reverse = false) const;
  /// Above 0 in parts but the last one, or the first one in `reverse`; null: there are no parts. Where there are, it makes the region have
  /// one even without tokens.
  fusion::Index inOtherParts(fusion::KernelRegion &region, bool reverse) const;

  /// Composed states of the pieces before the part at the site, which lie in memory behind `at` by Axis::Piece.
  fusion::Source sumOfPieces(const StateMemory &spans, llvm::ArrayRef<fusion::Dimension> at, fusion::Source begin = nullptr) const;
  /// The same of those behind it, from the last one down (`piecesBehind`).
  fusion::Source sumOfPiecesBehind(const StateMemory &spans, llvm::ArrayRef<fusion::Dimension> at, fusion::Source begin) const;

  /// What the state begins with, as it is, or in units: that of the op, and what the pieces before the part leave; null: nothing.
  fusion::Source stateBefore(const KeySums &sums, const RegionDraft &draft, fusion::Representation as, const StateMemory &pieces = {},
                             bool withSums = true) const;
  /// Lets chunks of one row begin with what their key leaves of a state in units, and those in reverse leave that to the ones before.
  void fade(fusion::Stage &stage, mlir::Value decay, RegionDraft &draft, int64_t features) const;

  const Problem &problem;
  RegionPlanner plan;

private:
  std::shared_ptr<const fusion::Extents> extents;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_CHUNKSTAGE_H
