//===- IssuedBlocks.cpp - What the warps of a GPU do for EFFATT, agents and EVA -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"

#include <cmath>
#include <numeric>

using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// EFFATT
//===----------------------------------------------------------------------===//

static IssuedWork issuedEffattState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.shared, tiles = points * tilesOfPieces(z);
  IssuedWork work(z);
  loadKeys(work, z, points * z.N);
  loadTurns(work, z, points * z.pieces, shape.keyRope);
  work.move(points * z.N, z.dv, z.k);
  work.multiply(tiles, z.d, z.dv, z.Tk, Operands::Features);
  takeKeys(work, shape, z, tiles, z.Tk);
  takeValues(work, z, tiles, z.Tk, Operands::Features);
  work.reduceAlongColumns(tiles * 2, z.d); // the maximum and the sum of each channel
  work.move(points * z.pieces * z.d, z.dv);
  work.storeRegisters(points * z.pieces, z.d, z.dv);
  work.storeVector(points * z.pieces * z.d * 2);
  return work;
}

static IssuedWork issuedEffattReadout(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), tiles = points * z.blocks;
  IssuedWork work(z);
  loadQueries(work, z, points * z.n);
  loadTurns(work, z, tiles, shape.queryRope);
  work.move(tiles * z.d, z.dv);
  work.multiply(tiles, z.Tq, z.dv, z.d, Operands::F32);
  takeQueries(work, shape, z, tiles, z.Tq);
  work.reduceAlongRows(tiles * 2, z.Tq); // the maximum and the sum of the weights
  storeOutput(work, shape, z);
  return work;
}

IssuedWorks cost::issuedEffatt(const AttentionShape &shape, const Sizes &z) {
  return {issuedEffattState(shape, z), issuedMerge(z, z.batch * z.shared, z.d, z.dv, 2, 0, z.d),
          issuedEffattReadout(shape, z)};
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

/// How many agents there are is known to the compiler, so scores behind the last of them are masked by constants, and the code
/// generator makes no products of 8 columns that nobody reads. Where warps stand side by side, the columns of one are not known.
static void dropScores(IssuedWork &work, const Sizes &z) {
  if (z.schedule.getWarpGrid().columns > 1)
    return;
  double last = std::fmod(z.N, z.Tk), beyond = last ? std::floor((z.Tk - last) / 8) * 8 : 0;
  work.multiply(-z.points() * z.blocks, z.Tq, beyond, z.d, Operands::Storage);
}

IssuedWorks cost::issuedAgent(const AttentionShape &shape, const Sizes &z) {
  double heads = z.batch * z.heads, agents = static_cast<double>(shape.agents);
  IssuedWork pool(z);
  double run = std::floor(z.n / std::max(agents, 1.0));
  loadQueries(pool, z, heads * agents * run);
  loadTurns(pool, z, heads * agents, shape.queryRope);
  double tiles = heads * agents * std::ceil(run / z.Tk);
  takeQueries(pool, shape, z, tiles, z.Tk);
  pool.reduceAlongColumns(tiles, z.d);
  pool.move(heads * agents, z.d);
  pool.storeRegisters(heads * agents, 1, z.d);
  IssuedWorks kernels{pool};
  for (const AttentionShape &part : agentParts(shape))
    kernels.append(issuedPairs(part, Sizes(part, z.schedule)));
  dropScores(kernels.back(), Sizes(agentParts(shape).back(), z.schedule));
  return kernels;
}

//===----------------------------------------------------------------------===//
// EVA: summaries
//===----------------------------------------------------------------------===//

namespace {
/// Keys of one edge of a block: those of the chunk before the block, and those after it.
struct EdgeKeys {
  double before = 0, after = 0;
};
} // namespace

/// The means of keys and queries and β of `count` chunks; `ranges`: keys of one chunk, as they are read.
static void summarize(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double count,
                      llvm::ArrayRef<double> ranges) {
  double tile = std::min<double>(static_cast<double>(shape.chunk), z.Tk);
  for (double keys : ranges) {
    double tiles = count * std::ceil(keys / tile);
    loadKeys(work, z, count * keys * 2); // for the mean, then for the logits
    work.move(count * keys, z.dv, z.k);
    work.multiply(tiles, 1, tile, z.d, Operands::F32);
    work.multiply(tiles, 1, z.dv, tile, Operands::F32);
    takeKeys(work, shape, z, tiles * 2, tile);
    takeValues(work, z, tiles, tile, Operands::F32);
    work.reduceAlongColumns(tiles, z.d); // the sum of the keys
    work.reduceAlongRows(tiles * 2, 1);  // the maximum and the sum of the weights
  }
  double queries = std::floor(z.n * static_cast<double>(shape.chunk) / z.N), tiles = count * std::ceil(queries / tile);
  takeQueries(work, shape, z, tiles, tile);
  work.reduceAlongColumns(tiles + count, z.d); // the sum of the queries; what comes of both as a row
  loadQueries(work, z, count * queries);
  loadTurns(work, z, count, hasRope(shape));
  work.move(count, z.d);
  work.move(count, z.dv);
  work.storeRegisters(count, 1, z.d);
  work.storeRegisters(count, 1, z.dv);
  work.storeVector(count);
}

static IssuedWork issuedSummaries(const AttentionShape &shape, const Sizes &z) {
  IssuedWork work(z);
  auto chunk = static_cast<double>(shape.chunk);
  summarize(work, shape, z, z.batch * z.heads * std::floor(z.N / chunk), {chunk});
  return work;
}

/// What block `number` leaves of its first chunk (side 0) or of its last (side 1).
static EdgeKeys edgeOf(const AttentionShape &shape, int64_t number, int64_t side) {
  int64_t start = number * shape.local, stop = start + shape.local;
  int64_t first = start / shape.chunk, last = (stop - 1) / shape.chunk, chunk = side ? last : first;
  if (side && first == last)
    return {};
  int64_t from = chunk * shape.chunk, end = from + shape.chunk;
  return {static_cast<double>(std::max<int64_t>(0, std::min(end, start) - from)),
          static_cast<double>(std::max<int64_t>(0, end - std::max(from, stop)))};
}

static IssuedWork issuedEdges(const AttentionShape &shape, const Sizes &z) {
  IssuedWork work(z);
  // Blocks and chunks begin together again after `period` blocks.
  int64_t blocks = shape.keys / shape.local, period = shape.chunk / std::gcd(shape.chunk, shape.local);
  for (int64_t number = 0; number < std::min(period, blocks); ++number)
    for (int64_t side : {0, 1}) {
      double alike = std::ceil(static_cast<double>(blocks - number) / static_cast<double>(period));
      EdgeKeys keys = edgeOf(shape, number, side);
      summarize(work, shape, z, z.batch * z.heads * alike, {keys.before, keys.after});
    }
  return work;
}

//===----------------------------------------------------------------------===//
// EVA: the mix
//===----------------------------------------------------------------------===//

namespace {
/// The blocks of queries of one head that share their local keys.
struct MixBlocks {
  MixBlocks(const AttentionShape &shape, const Sizes &z)
      : chunk(shape.chunk), local(shape.local), chunks(shape.keys / shape.chunk),
        count(shape.local ? std::max<int64_t>(1, shape.keys / shape.local) : 1), rows(shape.queries / count),
        queries(shape.queries), queryTile(static_cast<int64_t>(z.Tq)), keyTile(static_cast<int64_t>(z.Tk)),
        tiles(static_cast<int64_t>(std::ceil(static_cast<double>(rows) / z.Tq))) {}

  int64_t chunk, local, chunks, count, rows, queries, queryTile, keyTile, tiles;
};

/// Tiles of summaries and their rows, over all tiles of queries of one head.
struct Summaries {
  double tiles = 0, rows = 0;
};
} // namespace

/// Σ over blocks l < count of ⌊(slope l + offset) / divisor⌋ summaries from the first, and of the tiles that they fill.
static Summaries summariesBelow(const MixBlocks &at, int64_t slope, int64_t offset) {
  double rows = floorSum(at.count, at.chunk, slope, offset);
  return {floorSum(at.count, at.chunk * at.keyTile, slope, offset + at.chunk * (at.keyTile - 1)), rows};
}

/// Every tile of queries reads the chunks that it may use, in up to three loops.
static Summaries summariesRead(const AttentionShape &shape, const MixBlocks &at) {
  Summaries all;
  auto add = [&](double times, Summaries more) { all.tiles += times * more.tiles, all.rows += times * more.rows; };
  double queryTiles = static_cast<double>(at.tiles), blocks = static_cast<double>(at.count);
  double chunkTiles = std::ceil(static_cast<double>(at.chunks) / static_cast<double>(at.keyTile));
  if (!shape.excludeLocal && !shape.causal) {
    add(queryTiles * blocks, {chunkTiles, static_cast<double>(at.chunks)});
  } else if (!shape.excludeLocal) {
    // Of the last query of each tile the chunks before its own. Tiles of one block follow each other, and so do blocks.
    for (int64_t tile = 0; tile < at.tiles && at.count > 1; ++tile)
      add(1, summariesBelow(at, at.rows, std::min((tile + 1) * at.queryTile, at.queries) - 1));
    if (at.count == 1) {
      MixBlocks tiles = at;
      tiles.count = at.tiles - 1;
      add(1, summariesBelow(tiles, at.queryTile, at.queryTile - 1));
      tiles.count = 1;
      add(1, summariesBelow(tiles, 0, at.queries - 1));
    }
  } else {
    int64_t local = std::max<int64_t>(at.local, 1);
    add(queryTiles, summariesBelow(at, local, 0)); // below the block's first chunk
    if (!shape.causal) {
      // Past its last one: as many as below the first of the block that mirrors it.
      int64_t past = std::max<int64_t>(0, at.chunks * at.chunk - at.count * local);
      add(queryTiles, summariesBelow(at, local, past));
      add(queryTiles * blocks, {1, 2});
    }
  }
  return all;
}

/// Tiles of local keys and their rows that one head's tiles of queries read; if causal those up to their last query.
static Summaries localRead(const AttentionShape &shape, const MixBlocks &at, double tile) {
  Summaries read;
  double local = static_cast<double>(at.local), blocks = static_cast<double>(at.count);
  for (int64_t i = 0; i < at.tiles; ++i) {
    double last = static_cast<double>((i + 1) * at.queryTile);
    double rows = shape.causal ? std::min(local, last) : local;
    read.tiles += blocks * std::ceil(rows / tile), read.rows += blocks * rows;
  }
  return read;
}

static IssuedWork issuedMix(const AttentionShape &shape, const Sizes &z) {
  MixBlocks at(shape, z);
  double heads = z.batch * z.heads, tiles = heads * static_cast<double>(at.count * at.tiles);
  IssuedWork work(z);
  loadQueries(work, z, heads * static_cast<double>(at.rows * at.count));
  loadTurns(work, z, tiles, hasRope(shape));
  takeQueries(work, shape, z, tiles, z.Tq);
  if (at.local) {
    double tile = std::min<double>(static_cast<double>(at.local), z.Tk);
    Summaries local = localRead(shape, at, tile);
    loadKeys(work, z, heads * local.rows);
    work.move(heads * local.rows, z.dv, z.k);
    work.multiply(heads * local.tiles, z.Tq, tile, z.d, Operands::F32);
    work.multiply(heads * local.tiles, z.Tq, z.dv, tile, Operands::F32);
    takeKeys(work, shape, z, heads * local.tiles, tile, Operands::F32);
    takeValues(work, z, heads * local.tiles, tile, Operands::F32);
    work.reduceAlongRows(heads * local.tiles * 2, z.Tq);
  }
  Summaries chunks = summariesRead(shape, at);
  work.move(heads * chunks.rows, z.d);
  work.move(heads * chunks.rows, z.dv);
  work.loadAlongColumns(heads * chunks.rows);
  work.multiply(heads * chunks.tiles, z.Tq, z.Tk, z.d, Operands::F32);
  work.multiply(heads * chunks.tiles, z.Tq, z.dv, z.Tk, Operands::F32);
  work.reduceAlongRows(heads * chunks.tiles * 2, z.Tq);
  storeOutput(work, shape, z, tiles, z.Tq);
  return work;
}

IssuedWorks cost::issuedEva(const AttentionShape &shape, const Sizes &z) {
  bool edges = hasEdges(shape);
  if (z.n == 0 || z.N == 0)
    return IssuedWorks(edges ? 3 : 2, IssuedWork(z));
  IssuedWorks kernels{issuedSummaries(shape, z)};
  if (edges)
    kernels.push_back(issuedEdges(shape, z));
  kernels.push_back(issuedMix(shape, z));
  return kernels;
}
