//===- EvaShape.cpp - The chunks and the blocks of EVA ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EvaShape.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

EvaShape::EvaShape(const Problem &problem, EvaOptions given)
    : options(given), queries(Index::size(problem.query.memory, 2)), tokens(Index::size(problem.key.memory, 2)),
      existing(problem.lengths ? Index::length(problem.lengths, tokens) : tokens),
      chunkCount(Index::named("chunks", tokens / options.chunk)),
      blockCount(Index::named("blocks", options.local ? tokens / options.local : Index(1))) {
  options.excludeLocal &= options.local != 0;
}

Index EvaShape::runOfChunk() const { return Index::named("run", queries / chunkCount); }
Index EvaShape::runOfBlock() const { return Index::named("run", queries / blockCount); }

SmallVector<Entries, 2> EvaShape::keysOfChunk(Index chunk) const {
  Index from = chunk * options.chunk;
  return {{from, min(from + options.chunk, existing)}};
}

EvaShape::Edge EvaShape::edge(Index number) const {
  Index block = Index::named("of", number / 2), side = Index::named("side", number - block * 2);
  Index start = Index::named("start", block * options.local), stop = Index::named("stop", start + options.local);
  Index first = Index::named("first", start / options.chunk), last = Index::named("last", (stop - 1) / options.chunk);
  Index chunk = Index::named("chunk", first + side * (last - first)), from = Index::named("from", chunk * options.chunk);
  // The second edge is empty where it is the first: 0 keys if side = 1 and last = first.
  Index there = min(last - first + (1 - side), 1);
  Index end = Index::named("end", from + max(min(from + options.chunk, existing) - from, 0) * there);
  return {chunk, {{from, min(end, start)}, {max(from, stop), end}}};
}

Entries EvaShape::chunksMet(Index block) const {
  Index start = block * options.local;
  return {start / options.chunk, (start + (options.local - 1)) / options.chunk + 1};
}

SmallVector<Entries, 3> EvaShape::chunksOfQueries(int64_t tile) const {
  // Causal: up to the last query's own chunk; what no row of the tile may use is not read.
  if (!options.excludeLocal) {
    Index last = min(Index::first(Axis::Query) + tile, queries) - 1;
    return {{0, options.causal ? min(chunkCount, last / options.chunk) : chunkCount}};
  }
  Index block = Index::first(Axis::Block);
  Entries met = chunksMet(block);
  if (options.causal)
    return {{0, met.from}};
  Index edges = chunkCount + block * 2;
  return {{0, met.from}, {met.end, chunkCount}, {edges, edges + 2}};
}
