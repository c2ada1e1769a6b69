//===- CopyRegion.cpp - Rows from one memory to another ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, row block)   to [rows, width] = from [rows, width]
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

KernelRegion kernel::copyRegion(StringRef name, StringRef suffix, tile::ScheduleAttr schedule, Value from, Value to) {
  auto type = cast<MemRefType>(to.getType());
  auto extents = std::make_shared<Extents>();
  (*extents)[Axis::Batch] = {to, 0}, (*extents)[Axis::Head].count = type.getDimSize(1), (*extents)[Axis::Query] = {to, 2};
  SmallVector<Dimension, 4> rows{entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), columnsOf(type.getDimSize(3))};
  KernelRegion region{name.str(), suffix.str(), schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head}}, extents, {}};
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, schedule.getQueryTile()});
  region.outputs = {{fusion::memory(from, rows), to, rows}};
  return region;
}
