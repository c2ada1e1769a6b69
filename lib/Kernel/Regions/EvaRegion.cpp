//===- EvaRegion.cpp - Summaries of chunks, and one softmax over keys and chunks ---===//
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
#include "RegionPlanner.h"
#include "Regions.h"
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

namespace {
/// Those from ≤ j < end; none if from ≥ end.
struct Entries {
  Index from, end;
};

class Eva {
public:
  Eva(BuildSite &site, const Problem &problem, attn::EvaOp op);

  /// Those of the chunks, whole.
  KernelRegion chunks() const;
  /// Those of the first and the last chunk that each block meets, less the keys of the block.
  KernelRegion edges() const;
  KernelRegion mix() const;
  /// Causal, the chunks of the block's own keys are not strictly before every query, and excluded besides.
  bool hasEdges() const { return excludeLocal && !problem.causal; }

private:
  KernelRegion summaries(StringRef suffix, Index count, Index row, ArrayRef<Entries> keys, Index chunk) const;
  SmallVector<Entries> chunksOfBlock() const;
  Entries chunksMet(Index block) const;

  const Problem &problem;
  bool excludeLocal, mass;
  int64_t chunk, local; ///< tokens of a chunk and of a block; without blocks 0
  double scale, muWeight;
  Index queries, tokens, existing, chunkCount, blockCount;
  Value means, values, logWeights; ///< [batch, H, rows, d], [batch, H, rows, dv], [batch, H, rows]
};
} // namespace

Eva::Eva(BuildSite &site, const Problem &problem, attn::EvaOp op)
    : problem(problem), excludeLocal(op.getExcludeLocal() && op.getLocal()), mass(op.getMass()),
      chunk(static_cast<int64_t>(op.getChunk())), local(op.getLocal().value_or(0)),
      scale(op.getScale().convertToDouble() * M_LOG2E),
      muWeight(op.getMuWeight().convertToDouble()), queries(Index::size(problem.query.memory, 2)),
      tokens(Index::size(problem.key.memory, 2)),
      existing(problem.lengths ? Index::length(problem.lengths, tokens) : tokens), chunkCount(Index::named("chunks", tokens / chunk)),
      blockCount(Index::named("blocks", local ? tokens / local : Index(1))) {
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Index rows = hasEdges() ? chunkCount + blockCount * 2 : chunkCount;
  Value sizes[] = {host.dim(problem.query.memory, 0), rows.onHost(host)};
  int64_t heads = problem.heads();
  means = site.workspace({dynamic, heads, dynamic, problem.width()}, sizes);
  values = site.workspace({dynamic, heads, dynamic, problem.valueWidth()}, sizes);
  logWeights = site.workspace({dynamic, heads, dynamic}, sizes);
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

/// `count` summaries, each of the keys of some ranges, in `row`; q̄ is that of the run of queries that goes with a chunk.
KernelRegion Eva::summaries(StringRef suffix, Index count, Index row, ArrayRef<Entries> ranges, Index ofChunk) const {
  RegionPlanner plan(problem);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query] = (*extents)[Axis::Key] = {};
  (*extents)[Axis::Query].size = std::move(count);
  int64_t step = std::min(chunk, problem.schedule.getKeyTile()), d = problem.width(), dv = problem.valueWidth();
  Stage keys{Axis::Key, step, {}, extents}, run = keys;
  Index size, length = Index::named("run", queries / chunkCount), firstQuery = ofChunk * length;
  for (const Entries &entries : ranges) {
    keys.segments.push_back({"keys", entries.from, entries.end, /*masked=*/true});
    Index here = max(entries.end - entries.from, 0);
    size = size ? size + here : here;
  }
  run.segments = {{"run", firstQuery, firstQuery + length, /*masked=*/true}};
  Source q = plan.tokens(problem.query, Axis::Key), k = plan.tokens(problem.key, Axis::Key);
  // Of no tokens at all a mean is 0, as their sum is.
  Source keyMean = term(terms::mean(), {stream(keys, {terms::tokenSum(d), {k}}), number(max(size, 1))});
  Source queryMean = term(terms::mean(), {stream(run, {terms::tokenSum(d), {q}}), number(max(length, 1))});
  Source mu = term(terms::scale(muWeight), {queryMean, keyMean});
  Source logits = term(terms::visible(), {term(terms::gaussianLogits(scale), {mu, k})});
  Source v = plan.tokens(problem.value, Axis::Key);
  Source beta = term(terms::softmaxFinish(), {stream(keys, {terms::softmaxPartial(dv, /*wide=*/true), {logits, v}})});
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, head{Axis::Head, tile::Axis::Head}, each{Axis::Query, tile::Axis::KeyPiece};
  KernelRegion region{problem.name, suffix.str(), problem.schedule, {batch, head, each}, extents, {}};
  Dimension at{std::nullopt, 1, 0, 1, 1};
  at.at = std::move(row);
  Dimension entry = entryOf(Axis::Batch), ofHead = entryOf(Axis::Head);
  // What reads tokens is stored first, as nothing is read ahead of a store.
  region.outputs = {{beta, values, {entry, ofHead, at, columnsOf(dv)}},
                    {keyMean, means, {entry, ofHead, at, columnsOf(d)}},
                    {term(terms::logCount(mass), {number(size)}), logWeights, {entry, ofHead, at}}};
  return region;
}

KernelRegion Eva::chunks() const {
  Index number = Index::first(Axis::Query), from = number * chunk;
  return summaries("summaries", chunkCount, number, {{from, min(from + chunk, existing)}}, number);
}

/// The chunks from the first that a block meets to the last.
Entries Eva::chunksMet(Index block) const {
  Index start = block * local;
  return {start / chunk, (start + (local - 1)) / chunk + 1};
}

KernelRegion Eva::edges() const {
  Index edge = Index::first(Axis::Query), block = Index::named("of", edge / 2), side = Index::named("side", edge - block * 2);
  Index start = Index::named("start", block * local), stop = Index::named("stop", start + local);
  Index first = Index::named("first", start / chunk), last = Index::named("last", (stop - 1) / chunk);
  Index number = Index::named("chunk", first + side * (last - first)), from = Index::named("from", number * chunk);
  // The second edge is empty where it is the first: 0 keys if side = 1 and last = first.
  Index there = min(last - first + (1 - side), 1);
  Index end = Index::named("end", from + max(min(from + chunk, existing) - from, 0) * there);
  return summaries("edges", blockCount * 2, chunkCount + edge, {{from, min(end, start)}, {max(from, stop), end}}, number);
}

//===----------------------------------------------------------------------===//
// Mix
//===----------------------------------------------------------------------===//

/// The summaries that the queries of the tile may use.
SmallVector<Entries> Eva::chunksOfBlock() const {
  // Causal: up to the last query's own chunk; what no row of the tile may use is not read.
  if (!excludeLocal) {
    Index last = min(Index::first(Axis::Query) + problem.schedule.getQueryTile(), queries) - 1;
    return {{0, problem.causal ? min(chunkCount, last / chunk) : chunkCount}};
  }
  Index block = Index::first(Axis::Block);
  Entries met = chunksMet(block);
  if (problem.causal)
    return {{0, met.from}};
  Index edges = chunkCount + block * 2;
  return {{0, met.from}, {met.end, chunkCount}, {edges, edges + 2}};
}

/// The keys of the block, then the summaries.
KernelRegion Eva::mix() const {
  RegionPlanner plan(problem);
  auto extents = std::make_shared<Extents>(*plan.extents);
  Index block = Index::first(Axis::Block), run = Index::named("run", queries / blockCount), firstQuery = Index::first(Axis::Query);
  (*extents)[Axis::Key] = {}; // segments say which there are
  (*extents)[Axis::Block].size = blockCount;
  (*extents)[Axis::Query].begin = block * run, (*extents)[Axis::Query].size = run;
  plan.extents = extents;
  int64_t step = problem.schedule.getKeyTile(), dv = problem.valueWidth();
  Source q = term(terms::scale(scale), {plan.tokens(problem.query, Axis::Query)});
  auto form = [&](Source k, Source v, function_ref<Source(Source)> weigh) {
    Source logits = weigh(term(terms::logits(Representation::Log, 1, /*wide=*/true), {q, std::move(k)}));
    return StepForm{terms::softmaxPartial(dv, /*wide=*/true), {std::move(logits), std::move(v)}};
  };
  Dimension entry = entryOf(Axis::Batch), head = entryOf(Axis::Head), rows = rowsOf(Axis::Key);
  Source mean = fusion::memory(means, {entry, head, rows, columnsOf(problem.width())});
  Source beta = fusion::memory(values, {entry, head, rows, columnsOf(dv)}), w = fusion::memory(logWeights, {entry, head, rows});
  StepForm ofChunks = form(mean, beta, [&](Source s) {
    Source seen = term(terms::visible(), {term(terms::addLogWeights(), {std::move(s), w})});
    return problem.causal && !excludeLocal ? term(terms::endedBlocks(chunk), {seen}) : seen;
  });
  Stage keys{Axis::Key, step, {}, extents};
  if (local) {
    StepForm ofKeys = form(plan.tokens(problem.key, Axis::Key), plan.tokens(problem.value, Axis::Key),
                           [](Source s) { return term(terms::visible(), {std::move(s)}); });
    Index from = block * local, end = min(from + local, existing);
    if (problem.causal) // n = N: no query of the tile sees keys past its last one
      end = min(end, firstQuery + problem.schedule.getQueryTile());
    keys.segments.push_back({"block", from, end, /*masked=*/true, std::make_shared<StepForm>(std::move(ofKeys)),
                             std::min(step, local), problem.causal ? firstQuery : Index()});
  }
  for (const Entries &entries : chunksOfBlock())
    keys.segments.push_back({"chunks", entries.from, entries.end, /*masked=*/true});
  KernelRegion region = plan.region("mix", plan.finished(term(terms::softmaxFinish(), {stream(keys, ofChunks)})));
  region.grid[0].inner = Axis::Block;
  return region;
}

SmallVector<KernelRegion, 3> kernel::evaRegions(BuildSite &site, const Problem &problem, attn::EvaOp op) {
  Eva eva(site, problem, op);
  SmallVector<KernelRegion, 3> regions{eva.chunks()};
  if (eva.hasEdges())
    regions.push_back(eva.edges());
  regions.push_back(eva.mix());
  return regions;
}
