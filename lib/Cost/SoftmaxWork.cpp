//===- SoftmaxWork.cpp - The work of exact attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

using namespace attune;
using namespace attune::cost;

/// Passes over a row of the query and of the output besides those that a long row of keys hides. Fitted: with four of them
/// predictions are .06, .13 and .16 below what was measured of windows of 7×7, of 14×14, and of ELFATT (56×56, f32, d = 64, one
/// thread of an EPYC with AVX-512), without them .34, .31 and .47 (docs/perf-notes.md).
static constexpr double windowPasses = 4;

/// Pieces of the keys side by side: each takes the queries, and stores a maximum, a sum and an accumulator for a row; the last one
/// of a block puts them together, rescaling both sides.
static void splitKeys(WorkEstimate &work, const AttentionShape &shape, const Sizes &z) {
  double blocks = z.points() * z.blocks, spans = blocks * static_cast<double>(z.schedule.getParts());
  double bytes = 4 * spans * z.Tq * (z.dv + 2), again = static_cast<double>(z.schedule.getParts()) - 1;
  work.lastOps = 3 * spans * z.Tq * z.dv, work.lastBytes = bytes, work.lastGrain = blocks;
  work.elementwise += work.lastOps + again * z.points() * z.rows() * (z.d + queryOps(shape));
  work.workspaceBytes = bytes + counterBytes * blocks;
  work.mainBytes += 2 * bytes, work.nearBytes += 2 * bytes + again * z.points() * z.n * z.qw * z.q;
  work.grain *= std::min(static_cast<double>(z.schedule.getParts()), z.keyTiles);
}

KernelWorks cost::softmaxWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.points();
  WorkEstimate work;
  work.products = points * z.pairs * z.Tq * z.Tk * (z.d + z.dv);
  work.usefulProducts = points * z.visible * (z.d + z.dv); // §1: nN(d + dv)
  work.exps = points * z.pairs * z.Tq * (z.Tk + 1);
  // Row maximum, subtraction, row sum; the accumulator rescaled; then the query scaled and the output divided.
  work.elementwise = points * (z.pairs * z.Tq * (3 * z.Tk + z.dv) + z.rows() * (z.d + z.dv));
  // In a window few keys share what a query takes: it is copied and transposed, its scores fill their last vectors or
  // fragments in part, and the output is scaled as it is stored.
  if (shape.window)
    work.elementwise += points * z.rows() * windowPasses * (z.d + z.dv);
  work.elementwise += points * z.pairs * z.Tq * z.Tk * z.operandMoves();
  work.elementwise += points * (z.rows() * (queryOps(shape) + outputOps(shape)) + z.pairs * z.Tk * keyOps(shape));
  work.mainBytes = z.tensorBytes() + (shape.lse ? 4 * points * z.n : 0);
  work.nearBytes = z.visitedBytes() + points * z.n * shape.taps * z.dv * z.k;
  work.liveBytes = 4 * (z.Tq * (z.d + z.dv) + z.Tk * (z.d + z.dv) + 2 * z.Tq * z.Tk);
  work.grain = points * z.blocks;
  if (shape.split)
    splitKeys(work, shape, z);
  return {{"softmax", work}};
}
