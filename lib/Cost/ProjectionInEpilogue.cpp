//===- ProjectionInEpilogue.cpp - The need of an output projection as an epilogue ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of T queries has T D sums of y, and a head's dv D weights. A grid point has all heads of its block, so that blocks
// are all the parallelism there is. What is executed and moved is counted from the kernels' IR.
//
//===----------------------------------------------------------------------===//
#include "ProjectionInEpilogue.h"

using namespace attune;
using namespace attune::cost;

void cost::addProjectionInEpilogue(WorkEstimate &work, const AttentionShape &shape, const Sizes &z) {
  double model = shape.outputModel, tokens = z.batch * z.windows * z.n, weights = z.dv * model;
  work.usefulProducts += tokens * z.heads * weights; // §3: n H dv · D
  work.liveBytes += 4 * (z.Tq * model + weights);
  work.grain = z.batch * z.windows * z.blocks;
}
