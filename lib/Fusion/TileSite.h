//===- TileSite.h - Where a tile is built -*- C++ -*- -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A term is built at a site: a block under construction, with a range of entries on each axis. Scopes nest as stages
// do. What does not depend on the axis that a stage streams is built in the scope around the stage, once, however often
// its steps read it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_FUSION_TILESITE_H
#define ATTUNE_LIB_FUSION_TILESITE_H

#include "Index.h"
#include "WindowView.h"

#include <array>
#include <deque>

namespace attune::fusion {
using kernel::WindowView;
using tile::TileBuilder;

/// What the numbers of a tile stand for. `Log`: x stands for 2^x. `Scaled`: sums in a unit a row, of which the first
/// tile has the units.
enum class Representation { Plain, Log, Scaled };
llvm::StringRef nameOf(Representation representation);
/// The number that stands for 0.
double zeroOf(Representation representation);

/// Tiles that a source gives.
struct SiteValue {
  llvm::SmallVector<mlir::Value, 3> tiles;
};

/// Entries first … first + count − 1 of an axis, counted from the first of their view.
struct AxisRange {
  mlir::Value first;
  int64_t count = 1;
  /// Entries at or past it, and below it, are 0; null: those past the end, and below the view's first.
  mlir::Value limit, lower;
  WindowView view; ///< where the entries lie in memory
  mlir::Value number = {}; ///< of the tile on the grid; null: the entries are none
};

/// Which pairs of the site's queries and keys count.
struct Mask {
  mlir::Value limit;    ///< keys at or past it do not; null: every pair counts
  mlir::Value diagonal; ///< row r sees key j if j ≤ r + diagonal; null: every row sees every key
  int64_t last = 0;     ///< and only the last so many of these that exist; 0: all
  kernel::HeadRows heads = {}; ///< rows are counted from the first of each
  explicit operator bool() const { return static_cast<bool>(limit); }
};

/// A block under construction.
class Scope {
public:
  /// `conditional`: the block may not run, so what it reads is not built outside.
  Scope(mlir::Block &block, mlir::Location loc, Scope *outer, bool conditional = false)
      : builder(loc.getContext()), tiles(builder, loc), outer(outer), depth(outer ? outer->depth + 1 : 0),
        conditional(conditional) {
    builder.setInsertionPointToEnd(&block);
  }
  Scope(const Scope &) = delete;

  using Key = llvm::ArrayRef<const void *>;
  /// What has been built here under a key; null if nothing.
  const SiteValue *find(Key key) const;
  const SiteValue &keep(Key key, SiteValue value);

private:
  mlir::OpBuilder builder;
  std::deque<std::pair<llvm::SmallVector<const void *, 16>, SiteValue>> built;

public:
  TileBuilder tiles;
  Scope *const outer; ///< null: the kernel's body
  const unsigned depth;
  const bool conditional;
};

/// Which entry an index counts to: the first of the range; the one before it, of the first itself; the last that exists.
enum class Position { First, Before, Last };

/// Where a dimension of a memory is read or written.
struct Dimension {
  std::optional<Axis> axis; ///< none: from `add` on
  int64_t divide = 1, add = 0, scale = 1; ///< index = (⌊first / divide⌋ mod modulo + add) · scale
  /// Columns of the tile; 0: the entries of the range if `rows`, else one entry, which is no dimension of the tile.
  int64_t count = 0;
  bool rows = false;
  int64_t modulo = 0; ///< 0: none
  Position position = Position::First;
  bool fromRange = false; ///< rows are counted from the range's first, which is no part of the index
  int64_t block = 0;  ///< of ⌊first / divide⌋: of the tiles of `divide` entries one begins with every so many; 0: they follow one another
  Index at = {};      ///< the index, in place of what the axis says
  Index limit = {};   ///< of the first dimension of the tile: no entry from it on is read or written; null: as far as the memory goes
};

class TileSite {
public:
  TileSite(Scope &scope, const kernel::KernelFrame &frame, tile::ScheduleAttr schedule)
      : scope(&scope), frame(&frame), scheduleAttr(schedule) {}

  TileBuilder &tiles() const { return scope->tiles; }
  Scope &block() const { return *scope; }
  const AxisRange &operator[](Axis axis) const { return ranges[static_cast<unsigned>(axis)]; }
  const Mask &mask() const { return pairs; }
  /// The kernel's argument for a value of the host.
  mlir::Value argument(mlir::Value hostValue) const { return (*frame)[hostValue]; }
  tile::ScheduleAttr schedule() const { return scheduleAttr; }
  /// The element type of operands of products.
  mlir::Type operand() const { return scheduleAttr.getOperand(); }

  /// The same site with other entries of an axis, which are values of this scope.
  TileSite with(Axis axis, AxisRange range) const;
  /// A step of a stage: the block `inner` with entries of the streamed axis.
  TileSite step(Scope &inner, Axis axis, AxisRange range, Mask mask) const;
  /// The same site in a block within its own.
  TileSite in(Scope &inner) const;
  /// The same site at a member of a group: entry first · count + number of `axis`, first being the entry of `of`.
  TileSite member(Axis axis, Axis of, int64_t count, int64_t number) const;

  /// What stands for `source` (with `variant`) here, which depends on these axes: if nothing has been built yet, it is
  /// built in the outermost scope that has their ranges and runs whenever this one does.
  const SiteValue &once(const void *source, const void *variant, AxisSet axes,
                        llvm::function_ref<SiteValue(const TileSite &site)> build) const;
  /// Says what stands for `source` in this scope.
  void bind(const void *source, AxisSet axes, SiteValue value) const;

  mlir::Value load(mlir::Value hostMemory, llvm::ArrayRef<Dimension> dimensions) const;
  /// `onlyFirst`: nothing where the range of that axis does not begin at its first entry.
  void store(mlir::Value tile, mlir::Value hostMemory, llvm::ArrayRef<Dimension> dimensions,
             std::optional<Axis> onlyFirst = std::nullopt) const;

private:
  Scope &scopeOf(AxisSet axes) const;
  llvm::SmallVector<const void *, 32> keyOf(const void *source, const void *variant, AxisSet axes) const;
  mlir::Value index(const Dimension &dimension) const;
  kernel::RowPlace place(llvm::ArrayRef<Dimension> dimensions, llvm::SmallVectorImpl<mlir::Value> &indices) const;

  Scope *scope;
  const kernel::KernelFrame *frame;
  tile::ScheduleAttr scheduleAttr;
  std::array<AxisRange, axisCount> ranges;
  std::array<Scope *, axisCount> placed{}; ///< the scope that brought the range of each axis; null: none yet
  Mask pairs;
};

} // namespace attune::fusion

#endif // ATTUNE_LIB_FUSION_TILESITE_H
