//===- Region.h - What one kernel computes, as stages and terms -*- C++ -*- ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region is data: grid axes, extents of all axes, and outputs, each a tree of sources in which stages nest and follow
// one another. A planner makes it; `buildRegion` turns it into a kernel and its launch.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_REGION_H
#define ATTUNE_LIB_FUSION_REGION_H

#include "BlockTiles.h"
#include "Pieces.h"
#include "Term.h"

namespace attune::fusion {

/// The entries of an axis, and which of them exist: the only source of begin, end and position.
struct Extent {
  mlir::Value memory;         ///< its size at `dimension` is the number of entries; null: `count` is
  unsigned dimension = 0;
  int64_t count = 0;
  mlir::Value lengths = {};   ///< [batch]: entries at or past it do not exist; null: all do
  attn::WindowAttr window = {}; ///< entries are those of a window, each program has one; null: all
  bool shortLast = false;       ///< and the last window may have fewer
  /// Entry j counts for entry i of that axis if j ≤ i + count − count of that axis.
  std::optional<Axis> causal = std::nullopt;
  int64_t last = 0; ///< and is one of the last so many of these that exist; 0: it may be any
  int64_t heads = 1; ///< the entries are those of so many heads, one head's after another's, each of which counts from 0
  /// A stage streams rows that see a tile of entries of that axis, by its `causal` and `last`, in place of what a row sees.
  std::optional<Axis> sees = std::nullopt;
  /// The entries are parts of the sequence that `memory` has at `dimension`.
  std::optional<kernel::SequenceCuts> cuts = std::nullopt;
  bool evenNone = false; ///< and there is a part where there is no token
  Index begin = {}; ///< the first entry that belongs to what the grid has counted before; null: 0
  Index size = {};  ///< how many there are from there on; null: what `memory` and `count` say
  bool ofPart = false; ///< a stage streams the entries of the part at the site, in place of all
  bool ofPiece = false; ///< the same of the piece of a part at the site
  bool pastLengths = false; ///< a stage streams entries that do not exist, too, whose rows are written
  /// A stage streams the `count` entries that belong to the entry of that axis at the site.
  std::optional<Axis> memberOf = std::nullopt;
  std::optional<Axis> within = std::nullopt; ///< a stage streams the entries that the range of that axis has, as tokens too
  int64_t block = 0; ///< every so many entries begin a tile of the grid, which ends with them; 0: tiles follow one another
};
struct Extents {
  std::array<Extent, axisCount> ofAxes;

  const Extent &operator[](Axis axis) const { return ofAxes[static_cast<unsigned>(axis)]; }
  Extent &operator[](Axis axis) { return ofAxes[static_cast<unsigned>(axis)]; }
};

/// The places of a streamed axis at which its segments begin and end.
enum class Border {
  Begin,
  Entered, ///< entries from it on and before `Seen` count for every row of the tile; so many steps from `Begin`
  Seen, ///< entries before it count for every row of the tile; a multiple of the step
  End,  ///< no entry from here on counts for any row
  Block, ///< where the block of the rows begins; a step that ends there has no entries behind it
  // Of an axis whose tiles have the size of the rows' tile, and of which each row sees the entries up to itself:
  Rows,    ///< the first of the rows
  RowsEnd  ///< behind it, as far as entries exist: where the one tile at the diagonal ends
};

/// Where a segment begins or ends.
struct SegmentEnd {
  SegmentEnd(Border border) : border(border) {}
  SegmentEnd(Index index) : index(std::move(index)) {}

  Border border = Border::Begin;
  Index index = {}; ///< null: `border` says
};

/// A tile that is stored.
struct RegionOutput {
  Source source;
  mlir::Value memory;
  llvm::SmallVector<Dimension, 4> dimensions;
  unsigned tile = 0; ///< which one of the source's
  /// Programs that differ in this axis alone have the same tile: those at its first entry store it.
  std::optional<Axis> alikeAlong = std::nullopt;
};

/// What a step of a stage does: outputs, which are read from the state before it, then its entries enter the state.
struct StepForm {
  std::shared_ptr<const StreamedTerm> term;
  llvm::SmallVector<Source> operands;
  llvm::SmallVector<RegionOutput, 1> outputs = {};
  llvm::SmallVector<Source, 1> effects = {}; ///< stages that are run for the outputs of their steps
};

/// Consecutive steps of a stage, over entries of the sources that its form reads. Where `masked`, not every entry counts for every
/// row. An end that is a formula says which: row r counts the entries before it that are no later than r + diagonal.
struct Segment {
  llvm::StringRef name;
  SegmentEnd from, to;
  bool masked;
  std::shared_ptr<const StepForm> form = nullptr; ///< of its steps, with the carry of the stage's; null: the stage's
  int64_t step = 0;    ///< entries that a step takes; 0: as many as the stage's
  Index diagonal = {}; ///< null: every row counts all
};

/// Another form of a step, for entries that need no other unit than the state has.
struct Shortcut {
  Source unless;                 ///< an index: 0 where the shortcut holds, else 1
  llvm::SmallVector<std::pair<Source, mlir::Type>> both; ///< what both forms read, and as what: built before either
  StepForm form;
};

/// Entries of one axis that belong to each of another, such as query heads to a shared one; a step does its outputs for
/// one after another.
struct Group {
  Axis member, of;
  int64_t count;
};

/// Into which pieces the steps of a stage may be cut, which `tile-split-reduction` runs side by side.
struct StageCut {
  int64_t length = 0;    ///< entries of a piece, whole steps; 0: the schedule says how many pieces there are
  std::string kernel = ""; ///< which puts them together; none: the point that leaves the last one
  tile::CarryAttrInterface memory = {}; ///< of a state that lies in memory, where the stage before has stored its identity by slices
};

/// A loop over an axis.
struct Stage {
  Axis axis;
  int64_t step; ///< entries that a step takes
  llvm::SmallVector<Segment, 2> segments;
  std::shared_ptr<const Extents> extents;
  Source begin = nullptr; ///< what is carried first; null: the identity of the carry
  std::optional<Axis> together = std::nullopt; ///< an axis that has the same entries in each step, as far as they exist
  std::optional<Group> group = std::nullopt;
  std::shared_ptr<const BoundSource> state = nullptr; ///< what is carried when a step begins
  std::shared_ptr<const BoundSource> unit = nullptr;  ///< its unit with that of the step's entries joined
  std::shared_ptr<const BoundSource> left = nullptr;  ///< what the step before has left, of which `faded` is made
  /// What a step begins with, which is `state` then, and in `reverse` what goes on from one, made of `left` at its entries; null: what is left.
  Source faded = nullptr;
  std::optional<Shortcut> shortcut = std::nullopt;
  std::optional<StageCut> cut = std::nullopt; ///< none: one after another
  bool reverse = false; ///< from the last step down, in each segment; these stand in the order in which they run

  /// The axes that a step has a range of, and the stage's reader has not.
  AxisSet axes() const;
};

/// What is carried after all entries of the stage's axis.
Source stream(Stage stage, StepForm form);

/// An axis of the grid: each program has `tile` entries of it. Those that follow one another and count the same are one axis of the
/// kernel's grid, the last one fastest; of all but the first the number of entries is known.
struct GridAxis {
  Axis axis;
  tile::Axis counts;
  int64_t tile = 1;
  std::optional<Axis> inner = std::nullopt; ///< programs are pairs of an entry and one of this axis, which goes faster
};

struct KernelRegion {
  std::string name, suffix; ///< of the kernel
  tile::ScheduleAttr schedule;
  llvm::SmallVector<GridAxis, 3> grid;
  std::shared_ptr<const Extents> extents;
  llvm::SmallVector<RegionOutput, 2> outputs; ///< in the order of their stores
  llvm::SmallVector<Source, 1> effects = {};  ///< stages that are run for the outputs of their steps

  /// An error of the first source that takes another representation than its operand has.
  mlir::LogicalResult verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
  void print(llvm::raw_ostream &os) const;
};

/// The kernel of a region at the module's end, and its launch in the host function.
mlir::FailureOr<tile::LaunchOp> buildRegion(kernel::BuildSite &site, const KernelRegion &region);

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_REGION_H
