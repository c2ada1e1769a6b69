//===- BlockedWork.cpp - The work of EFFATT, agents and EVA -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// EFFATT: the state of a softmax over keys, then its readout by a softmax over features
//===----------------------------------------------------------------------===//

static WorkEstimate effattState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.shared, rows = z.keyRows();
  WorkEstimate work;
  work.products = points * rows * z.d * z.dv;
  work.usefulProducts = points * z.N * z.d * z.dv; // §5: N d dv
  // The features' maxima; the state rescaled once a tile.
  work.exps = points * (rows * z.d + z.keyTiles * z.d);
  work.elementwise = points * (rows * (3 * z.d + keyOps(shape)) + z.keyTiles * z.d * (z.dv + 1));
  work.workspaceBytes = points * z.pieces * 4 * z.d * (z.dv + 2);
  work.mainBytes = points * z.k * z.N * (z.d + z.dv) + work.workspaceBytes;
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * (z.Tk * (2 * z.d + z.dv) + z.d * (z.dv + 2));
  work.grain = points * z.pieces;
  return work;
}

static WorkEstimate effattReadout(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), rows = z.rows(), state = 4 * z.d * z.dv;
  WorkEstimate work;
  work.products = points * rows * z.d * z.dv;
  work.usefulProducts = points * z.n * z.d * z.dv; // §5: n d dv
  work.exps = points * rows * z.d;
  work.elementwise = points * rows * (4 * z.d + queryOps(shape) + outputOps(shape));
  work.mainBytes = points * z.n * (z.d * z.q + z.dv * z.o) + z.batch * z.shared * state;
  work.nearBytes = points * (z.n * (z.d * z.q + z.dv * z.o + shape.taps * z.dv * z.k) + z.blocks * state);
  work.liveBytes = 4 * z.Tq * (2 * z.d + z.dv) + state;
  work.grain = points * z.blocks;
  return work;
}

KernelWorks cost::effattWork(const AttentionShape &shape, const Sizes &z) {
  return {{"state", effattState(shape, z)},
          {"merge", mergeWork(z.batch * z.shared, z.pieces, z.d * (z.dv + 2))},
          {"readout", effattReadout(shape, z)}};
}

//===----------------------------------------------------------------------===//
// Agents: pooled queries read the keys, then the queries read the agents
//===----------------------------------------------------------------------===//

/// Means of runs of tokens: [runs, width] a head.
static WorkEstimate poolWork(double points, double tokens, double runs, double width, double bytes) {
  WorkEstimate work;
  work.elementwise = points * (tokens + runs) * width;
  work.workspaceBytes = points * 4 * runs * width;
  work.mainBytes = points * tokens * width * bytes + work.workspaceBytes;
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * 65 * width;
  work.grain = points * runs;
  return work;
}

llvm::SmallVector<AttentionShape, 2> cost::agentParts(const AttentionShape &shape) {
  AttentionShape gather = shape, spread = shape;
  gather.family = spread.family = Family::Softmax;
  gather.queries = shape.agents, gather.queryBytes = gather.elementBytes = 4;
  gather.queryRope = gather.queryNorm = false, gather.taps = 0;
  spread.keys = shape.agents, spread.sharedHeads = shape.heads, spread.keyBytes = 4;
  spread.keyRope = spread.keyNorm = false;
  return {gather, spread};
}

KernelWorks cost::agentWork(const AttentionShape &shape, const Sizes &z) {
  double heads = z.batch * z.heads, agents = shape.agents;
  KernelWorks kernels{{"pool", poolWork(heads, z.n, agents, z.d, z.q)}};
  for (const AttentionShape &part : agentParts(shape)) // §5: (n + N) a (d + dv), by two exact attentions
    kernels.append(softmaxWork(part, Sizes(part, z.schedule)));
  kernels[1].work.workspaceBytes = heads * 4 * agents * z.dv;
  return kernels;
}

//===----------------------------------------------------------------------===//
// EVA: summaries of chunks, then one softmax over the local block and the chunks
//===----------------------------------------------------------------------===//

/// Mean key, mean query, β of `count` chunks of `rows` keys.
static WorkEstimate summariesWork(const AttentionShape &shape, const Sizes &z, double count, double rows) {
  double points = z.batch * z.heads, queries = z.n * shape.chunk / z.N;
  double tile = std::min<double>(shape.chunk, z.Tk), keys = std::ceil(rows / tile) * tile;
  WorkEstimate work;
  work.products = points * count * keys * (z.d + z.dv);
  work.usefulProducts = points * count * rows * (z.d + z.dv); // §6: N (d + dv)
  work.exps = points * count * keys;
  // The two means; μ − k/2 and its product with k; the values' weights.
  work.elementwise = points * count * (queries * (z.d + queryOps(shape)) + keys * (4 * z.d + 3 + 2 * keyOps(shape)));
  work.workspaceBytes = points * count * 4 * (z.d + z.dv + 1);
  work.mainBytes = points * z.n * z.d * z.q + z.batch * z.shared * z.N * (z.d + z.dv) * z.k + work.workspaceBytes;
  work.nearBytes = points * count * (queries * z.d * z.q + rows * (2 * z.d + z.dv) * z.k) + work.workspaceBytes;
  work.liveBytes = 4 * tile * (3 * z.d + z.dv);
  work.grain = points * count;
  return work;
}

/// Pairs (query, key of its local block) and (query, chunk) of one head.
static double jointPairs(const AttentionShape &shape, const Sizes &z) {
  double chunks = z.N / shape.chunk, blocks = shape.local ? z.N / shape.local : 0;
  double local = blocks ? z.n / blocks * shape.local * blocks : 0;
  if (!shape.causal)
    return local + z.n * chunks;
  // Up to the query itself; chunks strictly before its own.
  return blocks * shape.local * (shape.local + 1) / 2 + z.n * (chunks - 1) / 2;
}

static WorkEstimate mixWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.heads, chunks = z.N / shape.chunk, edges = hasEdges(shape) ? 2 : 0;
  // The queries that share a local block, and its keys.
  double blocks = shape.local ? z.N / shape.local : 1, rows = z.n / blocks;
  double Tq = std::min(z.Tq, rows), tilesOfRows = std::ceil(rows / Tq);
  double local = shape.local ? visibleTiles(rows, shape.local, shape.causal, Tq, std::min<double>(z.Tk, shape.local)) *
                                   Tq * std::min<double>(z.Tk, shape.local)
                             : 0;
  double summaries = tilesOfRows * Tq * z.Tk * std::ceil((chunks + edges) / z.Tk) * (shape.causal ? 0.5 : 1);
  double scores = points * blocks * (local + summaries), queries = points * blocks * tilesOfRows * Tq;
  WorkEstimate work;
  work.products = scores * (z.d + z.dv);
  work.usefulProducts = points * jointPairs(shape, z) * (z.d + z.dv); // §6: n (w + C)(d + dv)
  work.exps = scores + queries;
  work.elementwise = 3 * scores + queries * (2 * z.d + 2 * z.dv + queryOps(shape) + outputOps(shape)) +
                     points * blocks * local / Tq * keyOps(shape);
  double summaryBytes = z.batch * z.heads * (chunks + edges * blocks) * 4 * (z.d + z.dv + 1);
  work.mainBytes = z.tensorBytes() + summaryBytes;
  work.nearBytes = z.points() * z.n * (z.d * z.q + z.dv * z.o) + scores / Tq * (z.d + z.dv) * 4;
  work.liveBytes = 4 * (Tq * (z.d + z.dv) + z.Tk * (z.d + z.dv) + 2 * Tq * z.Tk);
  work.grain = points * blocks * tilesOfRows;
  return work;
}

bool cost::hasEdges(const AttentionShape &shape) { return shape.excludeLocal && shape.local && !shape.causal; }

KernelWorks cost::evaWork(const AttentionShape &shape, const Sizes &z) {
  if (z.n == 0 || z.N == 0)
    return hasEdges(shape) ? KernelWorks{{"summaries", {}}, {"edges", {}}, {"mix", {}}}
                           : KernelWorks{{"summaries", {}}, {"mix", {}}};
  KernelWorks kernels{{"summaries", summariesWork(shape, z, z.N / shape.chunk, shape.chunk)}};
  // What a block leaves of the first and the last chunk that it meets.
  if (hasEdges(shape))
    kernels.push_back({"edges", summariesWork(shape, z, 2 * z.N / shape.local, shape.chunk)});
  kernels.push_back({"mix", mixWork(shape, z)});
  return kernels;
}
