//===- RegionPlanner.h - The sources and stages of one attention -*- C++ -*- -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all regions of attention share: tokens as sources, the stage over keys, and what comes after the attention. Which
// terms stand between them is for the function of each mechanism to say (Regions.h).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_REGIONPLANNER_H
#define ATTUNE_LIB_KERNEL_REGIONS_REGIONPLANNER_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

/// Makes the sources and stages of one problem.
class RegionPlanner {
public:
  /// `OfKeys`: there are no queries; `OfQueries`: there are no keys.
  enum Scope { OfAll, OfKeys, OfQueries };
  explicit RegionPlanner(const Problem &problem, Scope scope = OfAll) : problem(problem), extents(makeExtents(scope)) {}

  /// Tokens of the head at the site, those of `axis`; heads are counted by an axis of `heads` entries. Of tokens that lie in memory as
  /// they are some columns can be read.
  fusion::Source tokens(const Tokens &tokens, fusion::Axis axis, fusion::Axis headAxis, int64_t heads,
                        std::optional<fusion::Dimension> columns = std::nullopt) const;
  fusion::Source tokens(const Tokens &of, fusion::Axis axis) const {
    return tokens(of, axis, fusion::Axis::Head, problem.heads());
  }
  /// All columns of them, or the slice at the site.
  fusion::Source columns(const Tokens &of, fusion::Axis axis) const {
    return tokens(of, axis, fusion::Axis::Head, problem.heads(), featureColumns(of.width));
  }
  /// scale · a bᵀ of queries and keys so wide, or of their features: of whole rows, or summed over slices of them.
  fusion::Source pairs(fusion::Source a, fusion::Source b, int64_t width, fusion::Representation gives, double scale,
                       bool wide) const;
  /// |x| of rows so wide, of which a tile has these columns.
  fusion::Source length(fusion::Source x, fusion::Axis rows, int64_t width, bool powerOfTwo) const;

  bool isSliced() const { return problem.schedule.isSliced(); }
  /// How many columns a tile of values, and one of tokens so wide, has; which those are.
  int64_t valueTile() const { return tileOf(problem.schedule.getValueTile(), problem.valueWidth()); }
  int64_t featureTile(int64_t width) const { return tileOf(problem.schedule.getFeatureTile(), width); }
  fusion::Dimension valueColumns() const;
  fusion::Dimension featureColumns(int64_t width) const;
  /// The stage over the slices of tokens so wide; over `count` entries of an axis.
  fusion::Stage slices(int64_t width) const { return over(fusion::Axis::Feature, width, featureTile(width)); }
  fusion::Stage over(fusion::Axis axis, int64_t count, int64_t step) const;
  /// Adds slices to the grid, if there are any, behind its heads: of values, or of so many features.
  void addValueSlices(fusion::KernelRegion &region) const;
  void addFeatureSlices(fusion::KernelRegion &region, int64_t count) const;

  /// The stage over the keys that queries see: tiles that every row sees in full, then the rest with a mask. On a GPU one
  /// segment with the mask where a step has products of `precision f32`: in f32, and for `dearSteps`; not where masks are dear, too.
  fusion::Stage keys(bool dearSteps = false, bool dearMasks = false) const;
  /// The output o [Tq, dv] of a head with what comes after the attention: a convolution, a projection.
  fusion::Source finished(fusion::Source o) const { return finished(o, problem.output, problem.valueWidth()); }
  fusion::Source finished(fusion::Source o, const Output &output, int64_t width) const;
  fusion::Source withLepe(fusion::Source o) const { return withLepe(o, problem.output); }
  fusion::Source withLepe(fusion::Source o, const Output &output) const;
  /// The stores of rows [Tq, width] of a head, of columns from `column` on; of width 0 the rows are numbers [Tq].
  fusion::RegionOutput output(fusion::Source o, const Output &output, int64_t width, int64_t column = 0) const;
  fusion::RegionOutput output(fusion::Source o) const { return output(o, problem.output, problem.valueWidth()); }
  /// The region of blocks of queries that stores `o`, or these outputs.
  fusion::KernelRegion region(llvm::StringRef suffix, fusion::Source o) const;
  fusion::KernelRegion region(llvm::StringRef suffix, llvm::ArrayRef<fusion::RegionOutput> outputs) const;

  const Problem &problem;
  std::shared_ptr<const fusion::Extents> extents;

private:
  static int64_t tileOf(int64_t slice, int64_t width) { return slice == 0 ? width : std::min(slice, width); }
  std::shared_ptr<const fusion::Extents> makeExtents(Scope scope) const;
  /// Every entry of an axis.
  fusion::Stage all(fusion::Axis axis, int64_t step) const;
  fusion::Source projected(const Tokens &tokens, fusion::Axis axis, fusion::Dimension head) const;
};

/// The entry of an axis at the site, the rows of its range, and the first `count` columns of a memory.
inline fusion::Dimension entryOf(fusion::Axis axis) { return {axis}; }
inline fusion::Dimension rowsOf(fusion::Axis axis) { return {axis, 1, 0, 1, 0, true}; }
inline fusion::Dimension columnsOf(int64_t count) { return {std::nullopt, 1, 0, 1, count}; }
/// The number of its batch entry that a memory [batch] has: [1]. Of an argument that is absent it is 0.
fusion::Source beginOf(mlir::Value positions);
/// The number of the tile that begins at the site.
inline fusion::Dimension tileOf(fusion::Axis axis, const BlockTiles &tiles) {
  fusion::Dimension tile{axis, tiles.rows};
  tile.block = tiles.block;
  return tile;
}

/// Whether products of features have operands in f32 although storage has 16 bits: where it is f16, features pass its range below (φ of −30 is 1e-13), and
/// weights above (|φ(q)||φ(k)| may be more than 65504); or where the problem says so.
inline bool needsWideProducts(const Problem &problem) { return problem.wide || problem.schedule.getOperand().isF16(); }

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_REGIONPLANNER_H
