//===- Eva.cpp - EVA: summaries of chunks, and one softmax over keys and chunks ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   summaries:  parallel over (batch, head, chunk)
//                 k̄ = mean of the chunk's keys, μ = mu_weight (q̄ + k̄), β = Σ_j softmax_j(s⟨μ − k_j/2, k_j⟩) v_j
//   edges:      the same for what a local block leaves of the first and of the last chunk that it meets (exclude_local)
//   mix:        parallel over (batch × local block, head, query block): online softmax over the block's keys, then over
//                 the chunks with keys k̄, values β and log weights
//
// Rows of the summaries: the C chunks, then two edges for each local block. Logits are in units of log 2.
//
//===----------------------------------------------------------------------===//
#include "KernelFrame.h"
#include "OnlineSoftmax.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

namespace {
/// Keys from ≤ j < end; none if from ≥ end.
struct KeyRange {
  Value from, end;
};

/// One summary under construction.
struct Summary {
  const Problem &problem;
  const EvaOptions &options;
  TokenReader query, key, value;
  int64_t tile;
};
} // namespace

static Value emptyToZero(TileBuilder &tiles, Value length) { return tiles.max(length, tiles.index(0)); }

/// How many keys the ranges have, an index.
static Value countOf(TileBuilder &tiles, ArrayRef<KeyRange> ranges) {
  Value count = tiles.index(0);
  for (const KeyRange &range : ranges)
    count = tiles.add(count, emptyToZero(tiles, tiles.sub(range.end, range.from)));
  return count;
}

/// The mean of the keys of the ranges [1, d]; 0 of none.
static Value meanKey(TileBuilder &tiles, const Summary &at, ArrayRef<KeyRange> ranges, Value count) {
  Type f32 = tiles.builder.getF32Type();
  SmallVector<int64_t> row{1, at.key.width()};
  Value sum = tiles.constant({at.key.width()}, 0);
  for (const KeyRange &range : ranges) {
    auto step = [&](TileBuilder &inner, Value first, ValueRange carried) -> SmallVector<Value> {
      Value k = inner.cast(at.key.load(inner, first, at.tile, range.end), f32); // [T, d]
      return {inner.plus(carried[0], inner.reduceAdd(k, 0))};
    };
    sum = loop(tiles, tiles.sums(), range.from, range.end, at.tile, sum, step)[0];
  }
  Value divisor = tiles.iota(tiles.max(count, tiles.index(1)), 1); // [1]
  return tiles.over(tiles.expand(sum, 0, row), tiles.expand(divisor, 1, row));
}

/// β [1, dv]: the values of the ranges under softmax_j(s⟨μ, k_j⟩ − s|k_j|²/2).
static Value summarize(TileBuilder &tiles, const Summary &at, ArrayRef<KeyRange> ranges, Value mu) {
  Type f32 = tiles.builder.getF32Type();
  double scale = at.options.scale * M_LOG2E;
  int64_t width = at.key.width();
  OnlineSoftmax softmax{1, at.value.width(), f32};
  SmallVector<Value> carried = softmax.start(tiles);
  for (const KeyRange &range : ranges)
    carried = loop(tiles, tiles.rescaledSums(), range.from, range.end, at.tile, carried,
                   [&](TileBuilder &inner, Value first, ValueRange before) {
                     Value k = inner.cast(at.key.load(inner, first, at.tile, range.end), f32);           // [T, d]
                     Value half = inner.times(k, inner.constant({at.tile, width}, 0.5));
                     Value from = inner.minus(inner.expand(rowOf(inner, mu), 0, {at.tile, width}), half); // [T, d]
                     // As a row: [1, T] = 1 · (k ⊙ (μ − k/2))ᵀ.
                     Value s = inner.dot(inner.constant({1, width}, scale), inner.times(k, from),
                                         inner.constant({1, at.tile}, 0), false, true);                   // [1, T]
                     s = inner.mask(s, -INFINITY, Value(), inner.sub(range.end, first), Value());
                     Value v = inner.cast(at.value.load(inner, first, at.tile, range.end), f32);         // [T, dv]
                     return softmax.step(inner, before, s, v, /*masked=*/true);
                   });
  return softmax.finish(tiles, carried);
}

/// Writes row `row` of the summaries: the keys of `ranges`, of chunk `chunk` of which `queries` is the run.
static void storeSummary(TileBuilder &tiles, const KernelFrame &frame, const Point &point, const Summary &at,
                         const EvaSummaries &summaries, Value row, ArrayRef<KeyRange> ranges, const KeyRange &queries) {
  SmallVector<int64_t> shape{1, at.key.width()};
  Value count = countOf(tiles, ranges), c0 = tiles.index(0);
  Value mean = meanKey(tiles, at, ranges, count);                                                        // [1, d]
  Value q = meanOfTokens(tiles, at.query, queries.from, queries.end, at.tile);                           // [1, d]
  Value mu = tiles.times(tiles.plus(q, mean), tiles.constant(shape, at.options.muWeight));               // [1, d]
  Value beta = summarize(tiles, at, ranges, mu);                                                         // [1, dv]
  Value size = tiles.iota(count, 1);                                                                     // [1]
  Value weight = at.options.mass ? tiles.log2(size) : tiles.constant({1}, 0);
  weight = tiles.selectEqual(size, 0, tiles.constant({1}, -INFINITY), weight);
  tiles.store(mean, frame[summaries.mean.memory], {point.batch, point.head, row, c0});
  tiles.store(beta, frame[summaries.value.memory], {point.batch, point.head, row, c0});
  tiles.store(weight, frame[summaries.logWeight], {point.batch, point.head, row});
}

static KernelFrame summaryFrame(BuildSite &site, const Problem &problem, const EvaSummaries &summaries,
                                StringRef suffix) {
  return KernelFrame(site, problem, suffix, {tile::Axis::Batch, tile::Axis::Head, tile::Axis::KeyPiece},
                     hostValues({&problem.query, &problem.key, &problem.value},
                                {problem.lengths, summaries.mean.memory, summaries.value.memory, summaries.logWeight}));
}

static Summary startSummary(KernelFrame &frame, const Problem &problem, const EvaOptions &options, const Point &point) {
  auto reader = [&](const Tokens &tokens) {
    return TokenReader(frame.tiles, frame, problem, tokens, point, problem.heads());
  };
  return {problem, options, reader(problem.query), reader(problem.key), reader(problem.value),
          std::min(options.chunk, problem.schedule.getKeyTile())};
}

/// The queries that go with a chunk: n / (N / chunk) of them.
static KeyRange queriesOf(KernelFrame &frame, const Problem &problem, const EvaOptions &options, Value chunk) {
  TileBuilder &tiles = frame.tiles;
  Value chunks = tiles.div(tiles.dim(frame[problem.key.memory], 2), options.chunk);
  Value run = divide(tiles, tiles.dim(frame[problem.query.memory], 2), chunks);
  Value from = multiply(tiles, chunk, run);
  return {from, tiles.add(from, run)};
}

/// Rows 0 … C − 1: every chunk whole.
static void buildChunks(BuildSite &site, const Problem &problem, const EvaOptions &options,
                        const EvaSummaries &summaries) {
  KernelFrame frame = summaryFrame(site, problem, summaries, "summaries");
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Summary at = startSummary(frame, problem, options, point);
  Value chunk = tiles.programId(tile::Axis::KeyPiece), from = tiles.mul(chunk, options.chunk);
  Value limit = keyLimit(frame, tiles, problem, point);
  KeyRange keys{from, tiles.min(tiles.add(from, tiles.index(options.chunk)), limit)};
  storeSummary(tiles, frame, point, at, summaries, chunk, keys, queriesOf(frame, problem, options, chunk));
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(problem.query.memory, 0), host.index(problem.heads()), summaries.chunks});
}

/// Rows C + 2l and C + 2l + 1: the first and the last chunk that block l meets, less the keys of the block.
static void buildEdges(BuildSite &site, const Problem &problem, const EvaOptions &options,
                       const EvaSummaries &summaries) {
  KernelFrame frame = summaryFrame(site, problem, summaries, "edges");
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Summary at = startSummary(frame, problem, options, point);
  Value edge = tiles.programId(tile::Axis::KeyPiece), block = tiles.div(edge, 2);
  Value side = tiles.sub(edge, tiles.mul(block, 2));
  Value start = tiles.mul(block, *options.local), stop = tiles.add(start, tiles.index(*options.local));
  Value first = tiles.div(start, options.chunk), last = tiles.div(tiles.sub(stop, tiles.index(1)), options.chunk);
  Value chunk = tiles.add(first, multiply(tiles, side, tiles.sub(last, first)));
  Value limit = keyLimit(frame, tiles, problem, point);
  Value from = tiles.mul(chunk, options.chunk), end = tiles.min(tiles.add(from, tiles.index(options.chunk)), limit);
  // The second edge is empty where it is the first: 0 keys if side = 1 and last = first.
  Value there = tiles.min(tiles.add(tiles.sub(last, first), tiles.sub(tiles.index(1), side)), tiles.index(1));
  end = tiles.add(from, multiply(tiles, emptyToZero(tiles, tiles.sub(end, from)), there));
  SmallVector<KeyRange> keys{{from, tiles.min(end, start)}, {tiles.max(from, stop), end}};
  Value chunks = tiles.div(tiles.dim(frame[problem.key.memory], 2), options.chunk);
  storeSummary(tiles, frame, point, at, summaries, tiles.add(chunks, edge), keys,
               queriesOf(frame, problem, options, chunk));
  TileBuilder host(site.host, site.loc);
  Value edges = host.mul(host.div(host.dim(problem.key.memory, 2), *options.local), 2);
  frame.finish(site, {host.dim(problem.query.memory, 0), host.index(problem.heads()), edges});
}

//===----------------------------------------------------------------------===//
// Mix
//===----------------------------------------------------------------------===//

namespace {
struct MixBlock {
  const Problem &problem;
  const EvaOptions &options;
  OnlineSoftmax softmax;
  Value query;      // [Tq, d], times scale · log2 e
  Value firstQuery; // of the tile
};
} // namespace

/// Keys from ≤ j < end of the local block; causal: up to the query (n = N).
static SmallVector<Value> mixKeys(TileBuilder &tiles, const MixBlock &block, const TokenReader &key,
                                  const TokenReader &value, const KeyRange &keys, SmallVector<Value> carried) {
  Type f32 = tiles.builder.getF32Type();
  int64_t keyTile = std::min(block.problem.schedule.getKeyTile(), *block.options.local), rows = block.softmax.rows;
  return loop(tiles, tiles.rescaledSums(), keys.from, keys.end, keyTile, carried,
              [&](TileBuilder &inner, Value first, ValueRange before) {
                Value k = inner.cast(key.load(inner, first, keyTile, keys.end), f32);                     // [Tk, d]
                Value s = inner.dot(block.query, k, inner.constant({rows, keyTile}, 0), false, true);     // [Tq, Tk]
                Value diagonal = block.problem.causal ? inner.sub(block.firstQuery, first) : Value();
                s = inner.mask(s, -INFINITY, Value(), inner.sub(keys.end, first), diagonal);
                Value v = inner.cast(value.load(inner, first, keyTile, keys.end), f32);                   // [Tk, dv]
                return block.softmax.step(inner, before, s, v, /*masked=*/true);
              });
}

/// s [Tq, T] with −∞ where chunk first + j is not strictly before the query's own.
static Value beforeOwnChunk(TileBuilder &tiles, const MixBlock &block, Value s, Value first) {
  SmallVector<int64_t> shape(tiles.shape(s));
  // Column j is allowed if (first + j + 1) · chunk ≤ i: whole numbers, exact in f32.
  Value columns = tiles.plus(tiles.iota(first, shape[1]), tiles.constant({shape[1]}, 1));
  columns = tiles.times(columns, tiles.constant({shape[1]}, block.options.chunk));
  Value rows = tiles.iota(block.firstQuery, shape[0]);
  Value allowed = tiles.compare(arith::CmpFPredicate::OLE, tiles.expand(columns, 0, shape),
                                tiles.expand(rows, 1, shape));
  return tiles.select(allowed, s, tiles.constant(shape, -INFINITY));
}

/// Summaries from ≤ c < end; `staircase`: only chunks strictly before the query's own.
static SmallVector<Value> mixChunks(TileBuilder &tiles, const MixBlock &block, const KernelFrame &frame,
                                    const Point &point, const EvaSummaries &summaries, const KeyRange &chunks,
                                    SmallVector<Value> carried, bool staircase) {
  int64_t tile = block.problem.schedule.getKeyTile(), rows = block.softmax.rows;
  Value mean = frame[summaries.mean.memory], beta = frame[summaries.value.memory], weight = frame[summaries.logWeight];
  Value c0 = tiles.index(0);
  return loop(tiles, tiles.rescaledSums(), chunks.from, chunks.end, tile, carried,
              [&](TileBuilder &inner, Value first, ValueRange before) {
                Value k = inner.load(mean, {point.batch, point.head, first, c0}, {tile, summaries.mean.width},
                                     chunks.end);                                                        // [T, d]
                Value s = inner.dot(block.query, k, inner.constant({rows, tile}, 0), false, true);       // [Tq, T]
                Value w = inner.load(weight, {point.batch, point.head, first}, tile, chunks.end);        // [T]
                s = inner.plus(s, inner.expand(w, 0, {rows, tile}));
                s = inner.mask(s, -INFINITY, Value(), inner.sub(chunks.end, first), Value());
                if (staircase)
                  s = beforeOwnChunk(inner, block, s, first);
                Value v = inner.load(beta, {point.batch, point.head, first, c0}, {tile, summaries.value.width},
                                     chunks.end);                                                        // [T, dv]
                return block.softmax.step(inner, before, s, v, /*masked=*/true);
              });
}

/// The chunks that a block with keys start … may use, as ranges of the summaries.
static SmallVector<KeyRange> chunkRanges(TileBuilder &tiles, const EvaOptions &options, bool causal, Value chunks,
                                      Value block, Value lastQuery) {
  Value c0 = tiles.index(0);
  // Causal: up to the last query's own chunk; what no row of the tile may use is not read.
  if (!options.excludeLocal)
    return {{c0, causal ? tiles.min(chunks, tiles.div(lastQuery, options.chunk)) : chunks}};
  Value start = tiles.mul(block, *options.local);
  Value first = tiles.div(start, options.chunk);
  Value last = tiles.div(tiles.add(start, tiles.index(*options.local - 1)), options.chunk);
  // Causal: the chunks of the block's own keys are not strictly before every query, and excluded besides.
  if (causal)
    return {{c0, first}};
  Value edges = tiles.add(chunks, tiles.mul(block, 2));
  return {{c0, first}, {tiles.add(last, tiles.index(1)), chunks}, {edges, tiles.add(edges, tiles.index(2))}};
}

static Value scaledQuery(TileBuilder &tiles, const TokenReader &query, Value first, int64_t rows, Value limit,
                         double scale) {
  Value q = tiles.cast(query.load(tiles, first, rows, limit), tiles.builder.getF32Type()); // [Tq, d]
  return tiles.times(q, tiles.constant(tiles.shape(q), scale * M_LOG2E));
}

static void buildMix(BuildSite &site, const Problem &problem, const EvaOptions &options,
                     const EvaSummaries &summaries) {
  KernelFrame frame(site, problem, "mix", {tile::Axis::Batch, tile::Axis::Head, tile::Axis::QueryBlock},
                    hostValues(problem, {summaries.mean.memory, summaries.value.memory, summaries.logWeight}));
  TileBuilder &tiles = frame.tiles;
  Point point = gridPoint(frame, problem);
  Value keys = tiles.dim(frame[problem.key.memory], 2), queries = tiles.dim(frame[problem.query.memory], 2);
  Value blocks = options.local ? tiles.div(keys, *options.local) : tiles.index(1);
  Value number = arith::RemUIOp::create(tiles.builder, tiles.loc, point.batch, blocks);
  point.batch = divide(tiles, point.batch, blocks);
  Value run = divide(tiles, queries, blocks), start = multiply(tiles, number, run);
  int64_t rows = problem.schedule.getQueryTile();
  Value first = tiles.add(start, tiles.mul(tiles.programId(tile::Axis::QueryBlock), rows));
  auto reader = [&](const Tokens &tokens) { return TokenReader(tiles, frame, problem, tokens, point, problem.heads()); };
  OnlineSoftmax softmax{rows, problem.valueWidth(), tiles.builder.getF32Type()};
  Value stop = tiles.add(start, run);
  Value query = scaledQuery(tiles, reader(problem.query), first, rows, stop, options.scale); // [Tq, d]
  MixBlock block{problem, options, softmax, query, first};
  SmallVector<Value> carried = softmax.start(tiles);
  if (options.local) {
    Value from = tiles.mul(number, *options.local), limit = keyLimit(frame, tiles, problem, point);
    KeyRange local{from, tiles.min(tiles.add(from, tiles.index(*options.local)), limit)};
    if (problem.causal) // n = N: no query of the tile sees keys past its last one
      local.end = tiles.min(local.end, tiles.add(first, tiles.index(rows)));
    carried = mixKeys(tiles, block, reader(problem.key), reader(problem.value), local, carried);
  }
  Value chunks = tiles.div(keys, options.chunk);
  Value lastQuery = tiles.sub(tiles.min(tiles.add(first, tiles.index(rows)), queries), tiles.index(1));
  for (const KeyRange &range : chunkRanges(tiles, options, problem.causal, chunks, number, lastQuery))
    carried = mixChunks(tiles, block, frame, point, summaries, range, carried,
                        problem.causal && !options.excludeLocal);
  storeOutput(tiles, frame, problem, point, first, softmax.finish(tiles, carried), stop);
  TileBuilder host(site.host, site.loc);
  Value hostBlocks = options.local ? host.div(host.dim(problem.key.memory, 2), *options.local) : host.index(1);
  // No keys: no blocks of them, and no run of queries; the runtime fills the output.
  Value perBlock = divide(host, host.dim(problem.query.memory, 2), host.max(hostBlocks, host.index(1)));
  frame.finish(site, {multiply(host, host.dim(problem.query.memory, 0), hostBlocks), host.index(problem.heads()),
                      host.ceilDiv(perBlock, rows)});
}

void kernel::buildEva(BuildSite &site, const Problem &problem, const EvaOptions &options) {
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(problem.query.memory, 0), keys = host.dim(problem.key.memory, 2);
  bool edges = options.excludeLocal && options.local && !problem.causal;
  EvaSummaries summaries;
  summaries.chunks = host.div(keys, options.chunk);
  Value rows = edges ? host.add(summaries.chunks, host.mul(host.div(keys, *options.local), 2)) : summaries.chunks;
  int64_t heads = problem.heads(), d = problem.width(), dv = problem.valueWidth();
  summaries.mean = {site.workspace({dynamic, heads, dynamic, d}, {batch, rows}), 0, heads, d, {}};
  summaries.value = {site.workspace({dynamic, heads, dynamic, dv}, {batch, rows}), 0, heads, dv, {}};
  summaries.logWeight = site.workspace({dynamic, heads, dynamic}, {batch, rows});
  buildChunks(site, problem, options, summaries);
  if (edges)
    buildEdges(site, problem, options, summaries);
  buildMix(site, problem, options, summaries);
}
