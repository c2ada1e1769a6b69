//===- QueryBlocks.cpp - Kernels of blocks of queries ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head, query block)     o [T, dv], stored
//
//   parallel over (batch, query block)           with the projection as an epilogue
//     y = 0;  for each head h:  y = y + o_h · W_O[h]
//     y + bias, stored
//
// The heads have one order, so the bits are those of a projection with a kernel of its own.
//
//===----------------------------------------------------------------------===//
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

static void buildHeads(BuildSite &site, const Problem &problem, KernelFrame &frame, HeadOutput output) {
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), problem.queryTile());
  storeOutput(tiles, frame, problem, point, first, output(tiles, frame, point, first));
  frame.finish(site, queryGrid(site, problem));
}

/// y [T, D] + o_h [T, dv] · W_O [dv of the head, D].
static Value addHead(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, Value head, Value o,
                     Value y) {
  int64_t width = problem.valueWidth(), model = tiles.shape(y)[1];
  Type operand = problem.schedule.getOperand();
  Value w = tiles.load(frame[problem.output.projection->weight], {tiles.mul(head, width), tiles.index(0)},
                       {width, model});                                 // [dv, D]
  return tiles.dot(tiles.cast(o, operand), tiles.cast(w, operand), y);
}

static void buildProjected(BuildSite &site, const Problem &problem, KernelFrame &frame, HeadOutput output) {
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value first = tiles.mul(tiles.programId(tile::Axis::QueryBlock), problem.queryTile()), c0 = tiles.index(0);
  int64_t model = cast<MemRefType>(problem.output.memory.getType()).getDimSize(2);
  auto step = [&](TileBuilder &inner, Value head, ValueRange carried) -> SmallVector<Value> {
    Point where = point;
    where.head = head;
    Value o = output(inner, frame, where, first);                       // [T, dv]
    o = finishOutput(inner, frame, problem, where, first, o);
    return {addHead(inner, frame, problem, head, o, carried[0])};
  };
  Value zero = tiles.constant({problem.queryTile(), model}, 0);
  Value y = loop(tiles, tiles.sums(), c0, tiles.index(problem.heads()), 1, zero, step)[0]; // [T, D]
  y = addBias(tiles, y, frame[problem.output.projection->bias], c0);
  storeModelRows(tiles, problem, point, y, frame[problem.output.memory], first);
  SmallVector<Value> grid = queryGrid(site, problem);
  frame.finish(site, {grid[0], grid[2]});
}

void kernel::buildQueryBlocks(BuildSite &site, const Problem &problem, StringRef suffix, ArrayRef<Value> values,
                              HeadOutput output) {
  using tile::Axis;
  bool projected = problem.output.projection.has_value();
  SmallVector<Axis, 3> axes = projected ? SmallVector<Axis, 3>{Axis::Batch, Axis::QueryBlock}
                                        : SmallVector<Axis, 3>{Axis::Batch, Axis::Head, Axis::QueryBlock};
  SmallVector<Value> arguments(values);
  llvm::append_range(arguments, hostValues(problem.output));
  KernelFrame frame(site, problem, suffix, axes, arguments);
  projected ? buildProjected(site, problem, frame, output) : buildHeads(site, problem, frame, output);
}
