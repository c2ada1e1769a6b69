//===- SketchedPairs.h - Attention through sketches in memory -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDPAIRS_H
#define ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDPAIRS_H

#include "RegionPlanner.h"
#include "SketchRegion.h"

#include <vector>

namespace attune::kernel {

/// What a run is given of the tokens before, or leaves to those behind: S [batch, H, r², dv], z [batch, H, r²] and their scale [batch, H];
/// keys and values [batch, G, b, …] of a block of exact weights that is not full. Null: nobody gives or wants it.
struct HandedState {
  mlir::Value matrix, sum, scale, key, value;
};

/// What attn.polysketch needs beside q, k and v.
struct PolysketchOptions {
  int64_t degree, size;
  std::optional<int64_t> localExact;
  double scale;
  attn::DenominatorAttr guard;
  SketchMatrices matrices;
  llvm::StringRef form; ///< quadratic, state, chunked or split
  HandedState initial = {}, left = {};
  mlir::Value position = {}; ///< [batch], of blocks that go on from tokens before; null: 0

  bool begins() const { return static_cast<bool>(initial.matrix); }
  bool ends() const { return left.matrix || left.sum || left.scale || left.key || left.value; }
};

/// A problem whose queries and keys have been sketched.
struct SketchedProblem {
  const Problem &problem; ///< q, k, v as they were
  const PolysketchOptions &options;
  KeyUnit unit;
  Sketched query, key;
  BlockTiles grid; ///< of queries, and of keys, in blocks of exact weights
  /// Rows of queries that are wanted, and rows in blocks whose keys enter the state that is left; null: all. Rows `past` those blocks read
  /// keys of them through sketches.
  fusion::Index firstRow = {}, endRow = {}, full = {};
  bool past = false;

  int64_t half() const { return options.degree / 2; }
  bool guarded() const { return options.guard.getBias() != 0 || options.guard.getFloor() != 0; }
  /// Whether exact pairs have units of their own. From degree 32 on the root of a logit that is small beside |q| |k| is below
  /// the range, and matters if the row has no larger one.
  bool exactApart() const { return options.localExact && options.degree >= 32; }
};

/// The sources of pairs. Both kinds of weights are squares: of ⟨S(q), S(k)⟩, and of ⟨q / |q|, k⟩^(p/2). They are carried
/// relative to the largest of their row, as a power of a logit overflows long before the quotient does.
class SketchedPairs {
public:
  explicit SketchedPairs(const SketchedProblem &at);

  /// Sums of no pairs yet.
  fusion::Source start() const;
  /// Those of the sketches of the keys that a stage streams, after `begin`.
  fusion::Source sketched(fusion::Stage keys, fusion::Source begin) const;
  /// Outputs from sums of the keys before the block, with those of the block's own keys.
  fusion::Source withOwnBlock(fusion::Source sums, std::shared_ptr<const fusion::Extents> extents) const;
  /// Outputs from sums of all keys that a query sees.
  fusion::Source finished(fusion::Source sums) const;

  /// M_i of the queries at the site.
  fusion::Source running() const;
  /// Lengths that are divided by.
  static fusion::Source atLeast(fusion::Source lengths);
  fusion::Source values() const;

  const SketchedProblem &at;
  RegionPlanner plan;

private:
  fusion::Source roots() const;
  fusion::Source exactLogits() const;
  fusion::Source length() const;
};

/// All kernels of attn.polysketch, in their order, with workspaces for what they hand on. `rows`: the schedule of kernels without slices.
std::vector<fusion::KernelRegion> polysketchRegions(BuildSite &site, const Problem &problem, tile::ScheduleAttr rows,
                                                    const PolysketchOptions &options);

/// Every pair: of sketches with the keys before the block, then inside it.
fusion::KernelRegion sketchedPairsRegion(const SketchedProblem &at);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_SKETCHEDPAIRS_H
