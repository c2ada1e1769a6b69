//===- FusedState.cpp - A state and its readout in one kernel ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   parallel over (batch, head of the states)
//     S = 0;  for each key tile:  S = S + φ(k)ᵀ [v 1]
//     for each query head of the group, for each query tile:  o = φ(q) S / guard(φ(q) z)
//
// One launch, no workspace; the state never leaves the core. In return a head is the work of one grid point.
//
//===----------------------------------------------------------------------===//
#include "FusedState.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// The outputs of the query head at `point`.
static void writeHead(TileBuilder &tiles, const KernelFrame &frame, const Problem &problem, const Point &point,
                      const StateSteps &steps, ValueRange state) {
  TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
  Value count = queryCount(tiles, problem, frame[problem.query.memory]);
  loop(tiles, tiles.sums(), tiles.index(0), count, problem.queryTile(), {},
       [&](TileBuilder &inner, Value first, ValueRange) -> SmallVector<Value> {
         storeOutput(inner, frame, problem, point, first, steps.read(inner, query, first, state));
         return {};
       });
}

void kernel::buildFusedState(
    BuildSite &site, const Problem &problem, int64_t heads, ArrayRef<Value> values,
    llvm::function_ref<StateSteps(KernelFrame &frame, const Point &point, Value limit)> prepare) {
  KernelFrame frame(site, problem, "fused_state", {tile::Axis::Batch, tile::Axis::Head}, hostValues(problem, values));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value limit = keyLimit(frame, tiles, problem, point);
  StateSteps steps = prepare(frame, point, limit);
  SmallVector<Value> state =
      loop(tiles, steps.carry, tiles.index(0), limit, problem.keyTile(), steps.empty,
           [&](TileBuilder &inner, Value first, ValueRange carried) { return steps.add(inner, first, carried); });
  if (steps.finish)
    state = steps.finish(tiles, state);
  int64_t group = problem.heads() / heads;
  if (group == 1)
    writeHead(tiles, frame, problem, point, steps, state);
  else
    loop(tiles, tiles.sums(), tiles.index(0), tiles.index(group), 1, {},
         [&](TileBuilder &inner, Value member, ValueRange) -> SmallVector<Value> {
           Point where = point;
           where.head = inner.add(inner.mul(point.head, group), member);
           writeHead(inner, frame, problem, where, steps, state);
           return {};
         });
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {batchAxis(host, problem), host.index(heads)});
}
