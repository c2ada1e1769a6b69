//===- ProjectionInEpilogue.cpp - The work of an output projection as an epilogue ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a block of T queries: T dv D multiply-adds and the dv D weights of each head, and T D numbers of y in the place of T dv
// numbers of o a head. A grid point has all heads of its block, so that blocks are all the parallelism there is. Its T D sums
// are read and written once a head; they stay in the core if what a head touches besides leaves room for them.
//
//===----------------------------------------------------------------------===//
#include "ProjectionInEpilogue.h"

#include <algorithm>

using namespace attune;
using namespace attune::cost;

/// What the output of one head of a block reads: its keys and values or its state, and the weights of projections in the load.
static double headBytes(const AttentionShape &shape, const Sizes &z) {
  double weights = (shape.queryModel * z.qw + shape.keyModel * z.kw + shape.valueModel * z.dv) * z.o;
  if (shape.family == Family::Agent)
    return weights + shape.agents * (z.d + z.dv) * 4;
  if (shape.form == attn::Form::State)
    return weights + z.stateBytes();
  double stored = (shape.keyModel ? 0 : z.kw) + (shape.valueModel ? 0 : z.dv);
  return weights + z.N * (stored * z.k + std::max(shape.keyModel, shape.valueModel) * z.o);
}

void cost::addProjectionInEpilogue(WorkEstimate &work, const AttentionShape &shape, const Sizes &z) {
  double model = shape.outputModel, tokens = z.batch * z.windows * z.n, weights = z.dv * model;
  double heads = tokens * z.heads * z.dv * z.o, rows = tokens * model * z.o; // bytes of o and of y
  work.products += z.points() * z.rows() * weights;
  work.usefulProducts += tokens * z.heads * weights; // §3: n H dv · D
  work.nearBytes += z.points() * z.blocks * weights * z.o + rows - heads;
  work.mainBytes += z.heads * weights * z.o + rows - heads;
  work.liveBytes += 4 * (z.Tq * model + weights);
  work.carriedBytes = z.points() * z.rows() * 2 * 4 * model;
  work.stepBytes = 4 * z.Tq * model + weights * z.o + headBytes(shape, z);
  work.grain = z.batch * z.windows * z.blocks;
}
