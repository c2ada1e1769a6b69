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
#include "EvaShape.h"
#include "RegionPlanner.h"
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

namespace {
class Eva {
public:
  Eva(const Problem &problem, const EvaShape &shape, const EvaSummaries &results)
      : problem(problem), shape(shape), results(results), scale(shape.options.scale * M_LOG2E) {}

  /// Those of the chunks, whole.
  KernelRegion chunks() const;
  /// Those of the first and the last chunk that each block meets, less the keys of the block.
  KernelRegion edges() const;
  KernelRegion mix() const;

private:
  KernelRegion summaries(StringRef suffix, Index count, Index row, ArrayRef<Entries> keys, Index chunk) const;

  const Problem &problem;
  const EvaShape &shape;
  const EvaSummaries &results;
  double scale;
};
} // namespace

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

EvaRow::EvaRow(const Problem &problem, const EvaShape &shape, Index count, ArrayRef<Entries> ranges, Index ofChunk) {
  RegionPlanner plan(problem);
  extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query] = (*extents)[Axis::Key] = {};
  (*extents)[Axis::Query].size = std::move(count);
  int64_t step = std::min(shape.options.chunk, problem.schedule.getKeyTile()), d = problem.width(), dv = problem.valueWidth();
  keys = {Axis::Key, step, {}, extents};
  Stage run = keys;
  Index length = shape.runOfChunk(), firstQuery = ofChunk * length;
  for (const Entries &entries : ranges) {
    keys.segments.push_back({"keys", entries.from, entries.end, /*masked=*/true});
    Index here = max(entries.end - entries.from, 0);
    size = size ? size + here : here;
  }
  run.segments = {{"run", firstQuery, firstQuery + length, /*masked=*/true}};
  Source q = plan.tokens(problem.query, Axis::Key);
  k = plan.tokens(problem.key, Axis::Key), v = plan.tokens(problem.value, Axis::Key);
  // Of no tokens at all a mean is 0, as their sum is.
  keyCount = number(max(size, 1)), queryCount = number(max(length, 1));
  keyMean = term(terms::mean(), {stream(keys, {terms::tokenSum(d), {k}}), keyCount});
  Source queryMean = term(terms::mean(), {stream(run, {terms::tokenSum(d), {q}}), queryCount});
  mu = term(terms::scale(shape.options.muWeight), {queryMean, keyMean});
  logits = term(terms::visible(), {term(terms::gaussianLogits(shape.options.scale * M_LOG2E), {mu, k})});
  sums = stream(keys, {terms::softmaxPartial(dv, /*wide=*/true), {logits, v}});
}

KernelRegion EvaRow::region(const Problem &problem, StringRef suffix) const {
  GridAxis batch{Axis::Batch, tile::Axis::Batch}, head{Axis::Head, tile::Axis::Head}, each{Axis::Query, tile::Axis::KeyPiece};
  return {problem.name, suffix.str(), problem.schedule, {batch, head, each}, extents, {}};
}

/// `count` summaries, each of the keys of some ranges, in `row`; q̄ is that of the run of queries that goes with a chunk.
KernelRegion Eva::summaries(StringRef suffix, Index count, Index row, ArrayRef<Entries> ranges, Index ofChunk) const {
  EvaRow own(problem, shape, std::move(count), ranges, std::move(ofChunk));
  Source beta = term(terms::softmaxFinish(), {own.sums});
  KernelRegion region = own.region(problem, suffix);
  Dimension at{std::nullopt, 1, 0, 1, 1};
  at.at = std::move(row);
  Dimension entry = entryOf(Axis::Batch), ofHead = entryOf(Axis::Head);
  // What reads tokens is stored first, as nothing is read ahead of a store.
  region.outputs = {{beta, results.values, {entry, ofHead, at, columnsOf(problem.valueWidth())}},
                    {own.keyMean, results.means, {entry, ofHead, at, columnsOf(problem.width())}},
                    {term(terms::logCount(shape.options.mass), {number(own.size)}), results.logWeights, {entry, ofHead, at}}};
  return region;
}

KernelRegion Eva::chunks() const {
  Index number = Index::first(Axis::Query);
  return summaries("summaries", shape.chunkCount, number, shape.keysOfChunk(number), number);
}

KernelRegion Eva::edges() const {
  EvaShape::Edge edge = shape.edge(Index::first(Axis::Query));
  return summaries("edges", shape.blockCount * 2, shape.chunkCount + Index::first(Axis::Query), edge.keys, edge.chunk);
}

//===----------------------------------------------------------------------===//
// Mix
//===----------------------------------------------------------------------===//

/// The keys of the block, then the summaries.
KernelRegion Eva::mix() const {
  RegionPlanner plan(problem);
  auto extents = std::make_shared<Extents>(*plan.extents);
  Index block = Index::first(Axis::Block), run = shape.runOfBlock(), firstQuery = Index::first(Axis::Query);
  (*extents)[Axis::Key] = {}; // segments say which there are
  (*extents)[Axis::Block].size = shape.blockCount;
  (*extents)[Axis::Query].begin = block * run, (*extents)[Axis::Query].size = run;
  plan.extents = extents;
  int64_t step = problem.schedule.getKeyTile(), dv = problem.valueWidth();
  Source q = term(terms::scale(scale), {plan.tokens(problem.query, Axis::Query)});
  auto form = [&](Source k, Source v, function_ref<Source(Source)> weigh) {
    Source logits = weigh(term(terms::logits(Representation::Log, 1, /*wide=*/true), {q, std::move(k)}));
    return StepForm{terms::softmaxPartial(dv, /*wide=*/true), {std::move(logits), std::move(v)}};
  };
  Dimension entry = entryOf(Axis::Batch), head = entryOf(Axis::Head), rows = rowsOf(Axis::Key);
  Source mean = fusion::memory(results.means, {entry, head, rows, columnsOf(problem.width())});
  Source beta = fusion::memory(results.values, {entry, head, rows, columnsOf(dv)}), w = fusion::memory(results.logWeights, {entry, head, rows});
  StepForm ofChunks = form(mean, beta, [&](Source s) {
    Source seen = term(terms::visible(), {term(terms::addLogWeights(), {std::move(s), w})});
    return shape.seesEndedChunks() ? term(terms::endedBlocks(shape.options.chunk), {seen}) : seen;
  });
  Stage keys{Axis::Key, step, {}, extents};
  if (int64_t local = shape.options.local) {
    StepForm ofKeys = form(plan.tokens(problem.key, Axis::Key), plan.tokens(problem.value, Axis::Key),
                           [](Source s) { return term(terms::visible(), {std::move(s)}); });
    Index from = block * local, end = min(from + local, shape.existing);
    if (problem.causal) // n = N: no query of the tile sees keys past its last one
      end = min(end, firstQuery + problem.schedule.getQueryTile());
    keys.segments.push_back({"block", from, end, /*masked=*/true, std::make_shared<StepForm>(std::move(ofKeys)),
                             std::min(step, local), problem.causal ? firstQuery : Index()});
  }
  for (const Entries &entries : shape.chunksOfQueries(problem.schedule.getQueryTile()))
    keys.segments.push_back({"chunks", entries.from, entries.end, /*masked=*/true});
  Source sums = stream(keys, ofChunks), o = plan.finished(term(terms::softmaxFinish(), {sums}));
  KernelRegion region = plan.region("mix", o);
  if (results.lse)
    region.outputs.insert(region.outputs.begin(), {term(terms::logSumExp(), {sums}), results.lse, {entry, head, rowsOf(Axis::Query)}});
  region.grid[0].inner = Axis::Block;
  return region;
}

SmallVector<KernelRegion, 3> kernel::evaSummaryRegions(const Problem &problem, const EvaShape &shape, const EvaSummaries &results) {
  Eva eva(problem, shape, results);
  SmallVector<KernelRegion, 3> regions{eva.chunks()};
  if (shape.hasEdges())
    regions.push_back(eva.edges());
  return regions;
}

KernelRegion kernel::evaMixRegion(const Problem &problem, const EvaShape &shape, const EvaSummaries &results) {
  return Eva(problem, shape, results).mix();
}
