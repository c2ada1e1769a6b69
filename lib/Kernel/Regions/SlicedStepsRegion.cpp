//===- SlicedStepsRegion.cpp - Tokens after their steps -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   rotated:     parallel over (batch, head, block of 64 tokens)    for each slice of channels:  x cos ∓ partner sin
//   normalised:  parallel over (batch, head, block of 16 tokens)    (x − mean) / sqrt(variance + ε)
//
// The pairs of a rotation lie in one slice, or in two that lie in the two halves of a row. Which slice it is is known when the kernel is
// made, as the frequencies of its columns are a constant.
//
//===----------------------------------------------------------------------===//
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

/// Columns of a slice: registers of four warps hold a few tiles of so many.
static constexpr int64_t sliceColumns = 64;

/// Columns change places within a warp.
static tile::ScheduleAttr scheduleOfRotation(tile::ScheduleAttr s) {
  return tile::ScheduleAttr::get(s.getContext(), s.getTarget(), /*query_tile=*/64, /*key_tile=*/64, s.getPiece(), s.getOperand(),
                                 /*warps=*/4, /*stages=*/1);
}

KernelRegion kernel::rotationRegion(const Problem &problem) {
  Problem own = problem;
  own.schedule = scheduleOfRotation(problem.schedule);
  TokenStep step = own.query.steps.pop_back_val();
  RegionPlanner plan(own, RegionPlanner::OfQueries);
  int64_t width = own.query.width, half = width / 2, end = step.half ? half : width;
  KernelRegion region = plan.region("rotate", nullptr);
  region.outputs.clear();
  auto slice = [&](int64_t first, int64_t count) {
    Dimension columns = columnsOf(count);
    columns.add = first;
    return columns;
  };
  auto read = [&](int64_t first, int64_t count) {
    return plan.tokens(own.query, Axis::Query, Axis::Head, own.query.heads, slice(first, count));
  };
  auto write = [&](SmallVector<Source> operands, int64_t first, int64_t count) {
    if (step.positions())
      operands.push_back(beginOf(step.positions()));
    Source rotated = term(terms::ropeSlice(Axis::Query, step, {first, width}), std::move(operands));
    region.outputs.push_back({rotated, own.output.memory,
                              {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), slice(first, count)}});
  };
  for (int64_t first = 0; first < end; first += sliceColumns) {
    int64_t count = std::min(sliceColumns, end - first);
    Source x = read(first, count), other = step.half ? read(first + half, count) : Source();
    if (!step.half) {
      write({x}, first, count);
      continue;
    }
    write({x, other}, first, count);
    write({other, x}, first + half, count);
  }
  return region;
}

KernelRegion kernel::normalizedRowsRegion(const Problem &problem) {
  RegionPlanner plan(problem, RegionPlanner::OfQueries);
  return plan.region("normalize", plan.tokens(problem.query, Axis::Query));
}
