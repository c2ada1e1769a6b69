//===- ProjectionInLoad.cpp - The work of projections in the loads of their readers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a tile of T tokens of width d, in the place of T d numbers of a workspace: T D of x and D d of W, T D d multiply-adds.
// So it matters how many tiles a kernel reads: as many as there are for queries and for states, those of every block of
// queries for the keys of pairs.
//
//===----------------------------------------------------------------------===//
#include "ProjectionInLoad.h"

#include "attune/Tile/KernelSizes.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

namespace {
/// How one kernel reads one kind of tokens.
struct Reads {
  double tiles = 0; ///< all that the grid reads
  double near = 0;  ///< rows that its work counts as moved from near memory
  double main = 0;  ///< and from main memory
};

/// How a kernel reads its tokens.
struct ReadsOf {
  Reads query, key;
};
} // namespace

/// Blocks of queries read theirs once, and every tile of keys that they see.
static ReadsOf pairReads(const Sizes &z) {
  double points = z.points();
  return {{points * z.blocks, points * z.n, points * z.n},
          {points * z.pairs, points * z.pairs * z.Tk, z.batch * z.windows * z.shared * z.N}};
}

static Reads queriesOnce(const Sizes &z) { return {z.points() * z.blocks, z.points() * z.n, z.points() * z.n}; }

/// `heads` heads of keys, each once for each of `times`.
static Reads keysOnce(const Sizes &z, double heads, double times = 1) {
  double points = z.batch * heads;
  return {points * times * z.keyTiles, points * times * z.N, points * z.N};
}

static ReadsOf chunkReads(const AttentionShape &shape, const Sizes &z) {
  Reads key = keysOnce(z, shape.grouped ? z.shared : z.heads);
  key.main = z.batch * z.shared * z.N;
  return {{z.batch * z.heads * z.keyTiles, z.batch * z.heads * z.n, z.batch * z.heads * z.n}, key};
}

/// One grid point reads the keys of a state, then the queries of its heads.
static ReadsOf fusedReads(const Sizes &z) {
  Reads key = keysOnce(z, z.features);
  key.main = z.batch * z.shared * z.N;
  return {queriesOnce(z), key};
}

static ReadsOf readsOf(llvm::StringRef kernel, const AttentionShape &shape, const Sizes &z) {
  if (kernel == "softmax" || kernel == "polynomial" || kernel == "quadratic")
    return pairReads(z);
  if (kernel == "chunked")
    return chunkReads(shape, z);
  if (kernel == "fused_state")
    return fusedReads(z);
  if (kernel == "compress") {
    double tile = std::min<double>(static_cast<double>(shape.rank), z.Tq);
    return {{}, keysOnce(z, z.shared, std::ceil(static_cast<double>(shape.rank) / tile))};
  }
  if (kernel == "state" || kernel == "merged_state" || kernel == "key_maximum" || kernel == "features")
    return {{}, keysOnce(z, z.features)};
  if (kernel == "readout")
    return {queriesOnce(z), {}};
  return {};
}

namespace {
/// One projection: D, the width of its result, the tokens of a tile, the bytes of a number that it replaces, and the heads
/// of its weight.
struct Projection {
  double model, width, rows, bytes, heads;
};
} // namespace

static void add(WorkEstimate &work, const Projection &p, const Reads &reads, const Sizes &z, double tokens) {
  double depth = std::ceil(p.model / tile::modelTile) * tile::modelTile;
  work.products += reads.tiles * p.rows * depth * p.width;
  work.nearBytes += (reads.near * p.model + reads.tiles * p.model * p.width) * z.o - reads.near * p.width * p.bytes;
  work.mainBytes += (z.batch * tokens + p.heads * p.width) * p.model * z.o - reads.main * p.width * p.bytes;
  work.liveBytes += 4 * (p.rows + p.width) * tile::modelTile;
}

void cost::addProjectionsInLoad(KernelWorks &kernels, const AttentionShape &shape, const Sizes &z) {
  double n = z.windows * z.n, N = z.windows * z.N;
  Projection query{double(shape.queryModel), z.qw, z.Tq, z.q, z.heads};
  Projection key{double(shape.keyModel), shape.keyFolded ? z.m : z.d, z.Tk, z.k, z.shared};
  Projection value{double(shape.valueModel), z.dv, z.Tk, z.k, z.shared};
  bool first = true;
  for (KernelWork &kernel : kernels) {
    ReadsOf reads = readsOf(kernel.kernel, shape, z);
    if (query.model > 0 && reads.query.tiles > 0) {
      add(kernel.work, query, reads.query, z, n);
      kernel.work.usefulProducts += z.batch * z.heads * n * query.model * query.width; // §3: n D · H d
    }
    if (reads.key.tiles <= 0)
      continue;
    bool isFeatures = kernel.kernel == "features", isMaximum = kernel.kernel == "key_maximum";
    if (key.model > 0 && (!shape.keysMapped || isFeatures || isMaximum))
      add(kernel.work, key, reads.key, z, N);
    if (value.model > 0 && !isFeatures && !isMaximum)
      add(kernel.work, value, reads.key, z, N);
    // The formula projects a token once, whichever kernels read it.
    if (first)
      kernel.work.usefulProducts += z.batch * z.shared * N * (key.model * key.width + value.model * value.width);
    first = false;
  }
}
