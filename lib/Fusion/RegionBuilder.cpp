//===- RegionBuilder.cpp - A region as a kernel -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel begins with the ranges of the grid's axes. Then every output is read, which builds all that it takes, and
// stored.
//
//===----------------------------------------------------------------------===//
#include "Extents.h"
#include "LaunchedKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::fusion;

/// Windows are counted by the axis of the batch: the window that all extents share, if any.
static const Extent *windowed(const KernelRegion &region) {
  for (const Extent &extent : region.extents->ofAxes)
    if (extent.window)
      return &extent;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

static Value gridSize(TileBuilder &host, const KernelRegion &region, const GridAxis &axis) {
  const Extent &extent = (*region.extents)[axis.axis];
  Value count = countOf(host, extent, extent.memory);
  if (const Extent *windows = windowed(region); windows && axis.axis == Axis::Batch)
    return kernel::multiply(host, count, kernel::windowCount(host, windows->window, windows->memory, windows->shortLast));
  if (extent.block)
    return kernel::BlockTiles{extent.block, axis.tile}.count(host, count);
  if (axis.inner) {
    const Extent &inner = (*region.extents)[*axis.inner];
    return kernel::multiply(host, count, countOf(host, inner, inner.memory));
  }
  return axis.tile == 1 ? count : host.ceilDiv(count, axis.tile);
}

/// The axes of the kernel's grid.
static SmallVector<tile::Axis> gridAxes(const KernelRegion &region) {
  SmallVector<tile::Axis> axes;
  for (const GridAxis &axis : region.grid)
    if (axes.empty() || axes.back() != axis.counts)
      axes.push_back(axis.counts);
  return axes;
}

static SmallVector<Value> gridSizes(TileBuilder &host, const KernelRegion &region) {
  SmallVector<Value> sizes;
  for (auto [number, axis] : llvm::enumerate(region.grid)) {
    Value size = gridSize(host, region, axis);
    if (number > 0 && region.grid[number - 1].counts == axis.counts)
      sizes.back() = kernel::multiply(host, sizes.back(), size);
    else
      sizes.push_back(size);
  }
  return sizes;
}

/// The place of a value among the arguments of the host function; of a workspace, behind them.
static unsigned placeOnHost(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument ? argument.getArgNumber() : std::numeric_limits<unsigned>::max();
}

/// Everything that the kernel reads and writes, in the order of the host's arguments.
static SmallVector<Value> argumentsOf(const KernelRegion &region) {
  SmallVector<Value> values;
  for (const Source &stage : region.effects)
    appendArguments(*stage, values);
  for (const RegionOutput &output : region.outputs)
    appendArguments(*output.source, values);
  for (const Extent &extent : region.extents->ofAxes) {
    llvm::append_range(values, ValueRange{extent.memory, extent.lengths});
    extent.begin.appendArguments(values);
    extent.size.appendArguments(values);
  }
  for (const RegionOutput &output : region.outputs) {
    values.push_back(output.memory);
    for (const Dimension &dimension : output.dimensions) {
      dimension.at.appendArguments(values);
      dimension.limit.appendArguments(values);
    }
  }
  llvm::erase(values, Value());
  llvm::stable_sort(values, [](Value a, Value b) { return placeOnHost(a) < placeOnHost(b); });
  return values;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The batch entry and the window of a program.
static std::pair<Value, WindowView> batchEntry(const TileSite &site, const KernelRegion &region, Value program) {
  const Extent *windows = windowed(region);
  if (!windows)
    return {program, {}};
  TileBuilder &tiles = site.tiles();
  Value count = kernel::windowCount(tiles, windows->window, site.argument(windows->memory), windows->shortLast);
  Value number = arith::RemUIOp::create(tiles.builder, tiles.loc, program, count);
  Value entry = arith::DivUIOp::create(tiles.builder, tiles.loc, program, count);
  return {entry, {windows->window, kernel::originOf(tiles, windows->window, number)}};
}

/// The place of a program on each of the axes that are one axis of the kernel's grid.
static SmallVector<Value> placesOf(TileBuilder &tiles, const KernelRegion &region, ArrayRef<GridAxis> axes) {
  SmallVector<Value> places(axes.size(), tiles.programId(axes.front().counts));
  for (size_t number = axes.size() - 1; number > 0; --number) {
    int64_t count = llvm::divideCeil((*region.extents)[axes[number].axis].count, axes[number].tile);
    Value rest = places[number];
    places[number - 1] = tiles.div(rest, count);
    places[number] = tiles.sub(rest, tiles.mul(places[number - 1], count));
  }
  return places;
}

/// The first axes of the region's grid that are one axis of the kernel's.
static ArrayRef<GridAxis> firstOf(ArrayRef<GridAxis> axes) {
  return axes.take_while([&](const GridAxis &axis) { return axis.counts == axes.front().counts; });
}

/// The site at which a program begins: a range on each axis of the grid, and the view of the others.
static TileSite programSite(TileSite site, const KernelRegion &region) {
  TileBuilder &tiles = site.tiles();
  auto [entry, view] = batchEntry(site, region, tiles.programId(tile::Axis::Batch));
  for (Axis axis : {Axis::Query, Axis::Key})
    if ((*region.extents)[axis].window)
      site = site.with(axis, AxisRange{Value(), 0, Value(), Value(), view});
  for (ArrayRef<GridAxis> rest = region.grid, axes; !rest.empty(); rest = rest.drop_front(axes.size())) {
    axes = firstOf(rest);
    bool isBatch = axes.front().axis == Axis::Batch;
    SmallVector<Value> places = isBatch ? SmallVector<Value>{entry} : placesOf(tiles, region, axes);
    for (auto [axis, place] : llvm::zip_equal(axes, places)) {
      const Extent &extent = (*region.extents)[axis.axis];
      Value number = place;
      if (axis.inner) {
        Value count = countOf(site, (*region.extents)[*axis.inner]);
        AxisRange inner;
        inner.first = arith::RemUIOp::create(tiles.builder, tiles.loc, number, count);
        site = site.with(*axis.inner, inner);
        number = kernel::divide(tiles, number, count);
      }
      Value first = number;
      kernel::BlockTiles blocks{extent.block ? extent.block : axis.tile, axis.tile};
      if (axis.tile != 1)
        first = blocks.first(tiles, number);
      Value limit = blocks.even() ? Value() : blocks.blockEnd(tiles, number);
      if (extent.lengths)
        limit = limitOf(site, extent, site[axis.axis].view);
      if (extent.begin) {
        Value begin = extent.begin.at(site);
        first = tiles.add(begin, first), limit = tiles.add(begin, countOf(site, extent));
      }
      site = site.with(axis.axis, AxisRange{first, axis.tile, limit, Value(), site[axis.axis].view, number});
    }
  }
  return site;
}

/// Columns change places within a warp, which has all of them then: so many warps less.
static void keepColumnsTogether(tile::KernelOp kernel) {
  tile::ScheduleAttr s = kernel.getScheduleAttr();
  if (!s || s.getWarpColumns() == 1)
    return;
  bool moves = kernel.walk([](tile::PermuteColumnsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (moves)
    kernel.setScheduleAttr(s.withWarps(s.getWarps() / s.getWarpColumns(), 1));
}

FailureOr<tile::LaunchOp> fusion::buildRegion(kernel::BuildSite &site, const KernelRegion &region) {
  if (failed(region.verify([&] { return emitError(site.loc); })))
    return failure();
  kernel::Problem named;
  named.name = region.name, named.schedule = region.schedule;
  kernel::KernelFrame frame(site, named, region.suffix, gridAxes(region), argumentsOf(region));
  Scope body(frame.kernel.getBody().front(), site.loc, /*outer=*/nullptr);
  TileSite program = programSite(TileSite(body, frame, region.schedule), region);
  for (const Source &stage : region.effects)
    stage->read(program);
  for (const RegionOutput &output : region.outputs)
    program.store(output.source->tiles(program)[output.tile], output.memory, output.dimensions, output.alikeAlong);
  frame.builder.setInsertionPointToEnd(&frame.kernel.getBody().front());
  TileBuilder host(site.host, site.loc);
  tile::LaunchOp launch = frame.finish(site, gridSizes(host, region));
  keepColumnsTogether(frame.kernel);
  // Of some extents only the host needs to know how large they are.
  kernel::LaunchedKernel{frame.kernel, {launch}}.removeUnused();
  return launch;
}
