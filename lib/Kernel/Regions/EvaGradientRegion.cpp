//===- EvaGradientRegion.cpp - Gradients of EVA -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the mix, with p = e^(s − lse), δ = ⟨ȳ, o⟩ and x = p ⊙ (⟨ȳ, v⟩ − δ), over the keys of the block and the summaries that a query may use:
//
//   eva_queries:   parallel over (batch × block, head, query block)    q̄ = s Σ x k
//   eva_keys:      parallel over (batch × block, head, key block)      k̄ = s Σ_i x q_i, v̄ = Σ_i p ȳ_i
//   eva_chunks, eva_edges:  parallel over (batch, head, chunks) or (batch × block, head)    mean̄ = s Σ_i x q_i, summarȳ = Σ_i p ȳ_i
//
// On a CPU, of blocks without edges, one kernel makes p and x once, for five products of a pair in place of seven (JointGradients.cpp has the same of
// other attention):
//
//   eva_products:  parallel over (batch, head, query block)    −δ, which otherwise each tile of keys would make of both rows again
//   eva_pairs:     parallel over (batch, head, part of the blocks)    for each block:  k̄, v̄ of its keys, q̄ of its queries; of all summaries that it
//                                                                     sees q̄ too, mean̄[part], summarȳ[part]
//   eva_parts:     parallel over (batch, head, chunks)    mean̄ = Σ_part mean̄[part], summarȳ likewise
//
// Of the summaries, a row r having the keys P_r and w = softmax over them:
//
//   eva_rows, eva_edge_rows:   parallel over (batch, head, row)    μ, its lse, γ = ⟨summarȳ, β⟩, μ̄ = s Σ_j w_j (⟨summarȳ, v_j⟩ − γ) k_j
//   eva_members:   parallel over (batch, head, key block)    v̄_j = Σ_r w_rj summarȳ_r, k̄_j = s Σ_r x_rj (μ_r − k_j) + what it has of mean̄ and μ̄
//   eva_runs:      parallel over (batch, head, chunk)        q̄_t = what the queries of the chunk have of μ̄ of its rows
//
// A key is in its chunk, and in what some blocks leave of it; no program adds to what another one adds to.
//
//===----------------------------------------------------------------------===//
#include "EvaGradientRegion.h"

#include "KeyStage.h"
#include "RegionPlanner.h"
#include "Terms.h"

#include <cmath>

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

namespace {
struct Place {
  Dimension batch = entryOf(Axis::Batch), head = entryOf(Axis::Head);

  Source tokens(Value memory, Axis axis, int64_t width) const { return fusion::memory(memory, {batch, head, rowsOf(axis), columnsOf(width)}); }
  Source numbers(Value memory, Axis axis) const { return fusion::memory(memory, {batch, head, rowsOf(axis)}); }
};

/// Gradients of the mix.
class Mix : Place {
public:
  Mix(const Problem &problem, const EvaShape &shape, const EvaMixGradient &mix) : problem(problem), shape(shape), mix(mix), plan(problem) {}

  KernelRegion queries();
  KernelRegion keys();
  KernelRegion chunks();
  KernelRegion edges();
  KernelRegion products() const;
  KernelRegion jointly();
  KernelRegion parts();

private:
  /// The pairs of queries with some keys, or summaries.
  struct Pairs {
    Source p, x;
  };
  Pairs pairs(Source k, Source v, Source logWeights, function_ref<Source(Source)> mask) const;
  /// Of logits [Tq, Tk].
  Pairs weighted(Source logits, Source v, Source logWeights, function_ref<Source(Source)> mask) const;
  /// Of keys that have the scale.
  Pairs pairsOfScaled(Source k, Source v, Source logWeights, function_ref<Source(Source)> mask) const;
  Source scaled(Source k) const { return term(terms::scale(shape.options.scale), {std::move(k)}); }
  Source x(Axis axis, const Tokens &tokens) const { return plan.tokens(tokens, axis); }
  Source means(Axis axis) const { return tokens(mix.summaries.means, axis, problem.width()); }
  Source values(Axis axis) const { return tokens(mix.summaries.values, axis, problem.valueWidth()); }
  /// With the queries of blocks.
  Extents &extents();
  Stage queriesOfBlock() const;
  KernelRegion rows(StringRef suffix, Source sums, std::optional<Axis> inner) const;
  Source sumsOverQueries(const Pairs &pairs, SmallVector<RegionOutput, 1> outputs = {}) const;
  /// Rows of queries of the block, of keys before a limit, and of the part's summaries.
  SmallVector<Dimension, 4> queryRows() const;
  SmallVector<Dimension, 4> keyRows(const Index &limit, int64_t width) const;
  SmallVector<Dimension, 4> partRows(int64_t width) const;
  SmallVector<RegionOutput, 1> addedToQueries(Source x, Source k) const;
  Source clearedQueries() const;
  Source clearedParts() const;
  Source pairsOfBlock() const;
  Source pairsOfChunks() const;

  const Problem &problem;
  const EvaShape &shape;
  const EvaMixGradient &mix;
  RegionPlanner plan;
};
} // namespace

static Source none(Source w) { return w; }

Mix::Pairs Mix::pairs(Source k, Source v, Source logWeights, function_ref<Source(Source)> mask) const {
  Source q = term(terms::scale(shape.options.scale * M_LOG2E), {x(Axis::Query, problem.query)});
  return weighted(term(terms::logits(Representation::Log, 1, /*wide=*/true), {q, std::move(k)}), std::move(v), std::move(logWeights), mask);
}

Mix::Pairs Mix::pairsOfScaled(Source k, Source v, Source logWeights, function_ref<Source(Source)> mask) const {
  Source s = term(terms::logits(Representation::Log, M_LOG2E, /*wide=*/true), {x(Axis::Query, problem.query), std::move(k)});
  return weighted(std::move(s), std::move(v), std::move(logWeights), mask);
}

Mix::Pairs Mix::weighted(Source s, Source v, Source logWeights, function_ref<Source(Source)> mask) const {
  if (logWeights)
    s = term(terms::addLogWeights(), {s, std::move(logWeights)});
  Source p = mask(term(terms::softmaxWeights(), {s, numbers(mix.summaries.lse, Axis::Query)}));
  Source given = x(Axis::Query, mix.cotangent);
  Source reached = term(terms::logits(Representation::Plain, 1, /*wide=*/true), {given, std::move(v)});
  if (mix.products) // which a product of tiles begins with
    reached = term(terms::plus(), {reached, term(terms::spread(), {numbers(mix.products, Axis::Query)})});
  else
    reached = term(terms::minus(), {reached, term(terms::rowProducts(), {given, x(Axis::Query, mix.output)})});
  return {p, term(terms::times(), {p, reached})};
}

Extents &Mix::extents() {
  auto own = std::make_shared<Extents>(*plan.extents);
  (*own)[Axis::Query] = {}, (*own)[Axis::Key] = {};
  (*own)[Axis::Block].size = shape.blockCount;
  plan.extents = own;
  return *own;
}

Stage Mix::queriesOfBlock() const {
  Index run = shape.runOfBlock(), from = Index::first(Axis::Block) * run;
  return {Axis::Query, problem.queryTile(), {{"queries", from, from + run, /*masked=*/true}}, plan.extents};
}

KernelRegion Mix::queries() {
  Extents &own = extents();
  Index block = Index::first(Axis::Block), run = shape.runOfBlock();
  own[Axis::Query].memory = problem.query.memory, own[Axis::Query].dimension = 2;
  own[Axis::Query].begin = block * run, own[Axis::Query].size = run;
  int64_t step = problem.keyTile(), d = problem.width();
  auto form = [&](Source k, const Pairs &pairs) { return StepForm{terms::weightedSums({d}, /*wide=*/true, /*withSums=*/false), {pairs.x, std::move(k)}}; };
  auto visible = [](Source p) { return term(terms::visible(), {std::move(p)}); };
  StepForm ofChunks = form(means(Axis::Key), pairs(means(Axis::Key), values(Axis::Key), numbers(mix.summaries.logWeights, Axis::Key), [&](Source p) {
                             Source seen = visible(std::move(p));
                             return shape.seesEndedChunks() ? term(terms::endedBlocks(shape.options.chunk), {seen}) : seen;
                           }));
  Stage keys{Axis::Key, step, {}, plan.extents};
  if (int64_t local = shape.options.local) {
    Source k = x(Axis::Key, problem.key);
    StepForm ofKeys = form(k, pairs(k, x(Axis::Key, problem.value), nullptr, visible));
    Index from = block * local, end = min(from + local, shape.existing), first = Index::first(Axis::Query);
    if (problem.causal)
      end = min(end, first + problem.queryTile());
    keys.segments.push_back({"block", from, end, /*masked=*/true, std::make_shared<StepForm>(std::move(ofKeys)), std::min(step, local),
                             problem.causal ? first : Index()});
  }
  for (const Entries &entries : shape.chunksOfQueries(problem.queryTile()))
    keys.segments.push_back({"chunks", entries.from, entries.end, /*masked=*/true});
  Source q = term(terms::scale(shape.options.scale), {stream(keys, ofChunks)});
  KernelRegion region = stateKernel(plan, "eva_queries");
  region.grid[0].inner = Axis::Block;
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, problem.queryTile()});
  region.outputs = {{q, mix.tokens.query.memory, {batch, head, rowsOf(Axis::Query), columnsOf(d)}}};
  return region;
}

Source Mix::sumsOverQueries(const Pairs &pairs, SmallVector<RegionOutput, 1> outputs) const {
  int64_t d = problem.width(), dv = problem.valueWidth();
  return stream(queriesOfBlock(), {terms::transposedSums({d, dv}, /*wide=*/true),
                                   {pairs.x, x(Axis::Query, problem.query), pairs.p, x(Axis::Query, mix.cotangent)}, std::move(outputs)});
}

KernelRegion Mix::keys() {
  int64_t local = shape.options.local, tile = std::min(problem.keyTile(), local);
  Extents &own = extents();
  Index from = Index::first(Axis::Block) * local;
  own[Axis::Key].memory = problem.key.memory, own[Axis::Key].dimension = 2;
  own[Axis::Key].begin = from, own[Axis::Key].size = local;
  auto there = [&](Source source) {
    return problem.lengths ? term(terms::rowsBefore(Axis::Key, shape.existing), {std::move(source)}) : source;
  };
  auto mask = [&](Source p) { return problem.causal ? term(terms::notAfter(), {std::move(p)}) : p; };
  Source k = there(x(Axis::Key, problem.key)), v = there(x(Axis::Key, problem.value));
  Source sums = sumsOverQueries(pairs(k, v, nullptr, mask));
  KernelRegion region = stateKernel(plan, "eva_keys");
  region.grid[0].inner = Axis::Block;
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, tile});
  Source ofKeys = term(terms::scale(shape.options.scale), {term(terms::select({0}), {sums})});
  region.outputs = {{there(ofKeys), mix.tokens.key.memory, {batch, head, rowsOf(Axis::Key), columnsOf(problem.width())}},
                    {there(term(terms::select({1}), {sums})), mix.tokens.value.memory, {batch, head, rowsOf(Axis::Key), columnsOf(problem.valueWidth())}}};
  return region;
}

KernelRegion Mix::rows(StringRef suffix, Source sums, std::optional<Axis> inner) const {
  KernelRegion region = stateKernel(plan, suffix);
  region.grid[0].inner = inner;
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, problem.keyTile()});
  Source ofMeans = term(terms::scale(shape.options.scale), {term(terms::select({0}), {sums})});
  region.outputs = {{ofMeans, mix.means, {batch, head, rowsOf(Axis::Key), columnsOf(problem.width())}},
                    {term(terms::select({1}), {sums}), mix.values, {batch, head, rowsOf(Axis::Key), columnsOf(problem.valueWidth())}}};
  return region;
}

KernelRegion Mix::chunks() {
  Extents &own = extents();
  own[Axis::Key].size = shape.chunkCount;
  Entries met = shape.options.local ? shape.chunksMet(Index::first(Axis::Block)) : Entries{};
  auto mask = [&](Source p) {
    if (shape.options.excludeLocal)
      return term(terms::keysOutside(met.from, problem.causal ? shape.chunkCount : met.end), {std::move(p)});
    return problem.causal ? term(terms::endedBlocks(shape.options.chunk), {std::move(p)}) : p;
  };
  Source each = sumsOverQueries(pairs(means(Axis::Key), values(Axis::Key), numbers(mix.summaries.logWeights, Axis::Key), mask));
  SmallVector<SmallVector<int64_t>> shapes{{problem.keyTile(), problem.width()}, {problem.keyTile(), problem.valueWidth()}};
  Stage blocks{Axis::Block, 1, {{"blocks", Index(0), shape.blockCount, false}}, plan.extents};
  return rows("eva_chunks", stream(blocks, {terms::compose(Representation::Plain, shapes), {each}}), std::nullopt);
}

KernelRegion Mix::edges() {
  Extents &own = extents();
  own[Axis::Key].begin = shape.chunkCount + Index::first(Axis::Block) * 2, own[Axis::Key].size = 2;
  Source sums = sumsOverQueries(pairs(means(Axis::Key), values(Axis::Key), numbers(mix.summaries.logWeights, Axis::Key), none));
  return rows("eva_edges", sums, Axis::Block);
}

//===----------------------------------------------------------------------===//
// All sums in one kernel
//===----------------------------------------------------------------------===//

bool kernel::sumsJointly(const Problem &problem, const EvaShape &shape) {
  return problem.schedule.getTarget() == tile::TargetKind::CPU && shape.options.local > 0 && !shape.options.excludeLocal;
}

SmallVector<Dimension, 4> Mix::queryRows() const {
  Dimension rows = rowsOf(Axis::Query);
  rows.limit = (Index::first(Axis::Block) + 1) * shape.runOfBlock();
  return {batch, head, rows, columnsOf(problem.width())};
}

SmallVector<Dimension, 4> Mix::keyRows(const Index &limit, int64_t width) const {
  Dimension rows = rowsOf(Axis::Key);
  rows.limit = limit;
  return {batch, head, rows, columnsOf(width)};
}

SmallVector<Dimension, 4> Mix::partRows(int64_t width) const { return {entryOf(Axis::Part), batch, head, rowsOf(Axis::Key), columnsOf(width)}; }

/// q̄ += x k of keys that have the scale, where it lies.
SmallVector<RegionOutput, 1> Mix::addedToQueries(Source x, Source k) const {
  Value memory = mix.tokens.query.memory;
  Source before = fusion::memory(memory, queryRows(), setOf({Axis::Block, Axis::Key, Axis::Query}));
  return {{term(terms::pairSums(/*wide=*/true, /*transposed=*/false), {before, std::move(x), std::move(k)}), memory, queryRows()}};
}

Source Mix::clearedQueries() const {
  StepForm clear{terms::nothing(), {}};
  AxisSet places = setOf({Axis::Batch, Axis::Head, Axis::Block, Axis::Query});
  clear.outputs.push_back({term(terms::zeros(places, Axis::Query, problem.width()), {}), mix.tokens.query.memory, queryRows()});
  return stream(queriesOfBlock(), clear);
}

Source Mix::clearedParts() const {
  Stage chunks{Axis::Key, problem.keyTile(), {{"chunks", Index(0), shape.chunkCount, false}}, plan.extents};
  StepForm clear{terms::nothing(), {}};
  AxisSet places = setOf({Axis::Batch, Axis::Head, Axis::Part, Axis::Key});
  for (auto [memory, width] : {std::pair(mix.meanParts, problem.width()), {mix.valueParts, problem.valueWidth()}})
    clear.outputs.push_back({term(terms::zeros(places, Axis::Key, width), {}), memory, partRows(width)});
  return stream(chunks, clear);
}

Source Mix::pairsOfBlock() const {
  int64_t local = shape.options.local, tile = std::min(problem.keyTile(), local);
  Index from = Index::first(Axis::Block) * local, end = from + local;
  auto there = [&](Source source) {
    return problem.lengths ? term(terms::rowsBefore(Axis::Key, shape.existing), {std::move(source)}) : source;
  };
  auto mask = [&](Source p) {
    if (problem.causal)
      p = term(terms::notAfter(), {std::move(p)});
    if (problem.lengths || local % tile != 0) // columns that are no keys of the block would reach its queries
      p = term(terms::keysOutside(min(end, shape.existing), end + tile), {std::move(p)});
    return p;
  };
  Source k = scaled(there(x(Axis::Key, problem.key))), v = there(x(Axis::Key, problem.value));
  Pairs both = pairsOfScaled(k, v, nullptr, mask);
  Source sums = sumsOverQueries(both, addedToQueries(both.x, k));
  Source ofKeys = term(terms::scale(shape.options.scale), {term(terms::select({0}), {sums})});
  StepForm form{terms::nothing(), {}};
  form.outputs = {{there(ofKeys), mix.tokens.key.memory, keyRows(end, problem.width())},
                  {there(term(terms::select({1}), {sums})), mix.tokens.value.memory, keyRows(end, problem.valueWidth())}};
  return stream(Stage{Axis::Key, tile, {{"block", from, end, /*masked=*/true}}, plan.extents}, form);
}

Source Mix::pairsOfChunks() const {
  int64_t chunk = shape.options.chunk, tile = problem.keyTile();
  Index end = shape.chunkCount;
  if (problem.causal)
    end = min((Index::first(Axis::Block) + 1) * shape.options.local / chunk, end);
  auto mask = [&](Source p) {
    p = problem.causal ? term(terms::endedBlocks(chunk), {std::move(p)}) : p;
    return term(terms::keysOutside(end, end + tile), {std::move(p)});
  };
  Source k = scaled(means(Axis::Key));
  Pairs both = pairsOfScaled(k, values(Axis::Key), numbers(mix.summaries.logWeights, Axis::Key), mask);
  Source sums = sumsOverQueries(both, addedToQueries(both.x, k));
  Source ofMeans = term(terms::scale(shape.options.scale), {term(terms::select({0}), {sums})});
  StepForm form{terms::nothing(), {}};
  auto add = [&](Source sum, Value memory, int64_t width) {
    Source before = fusion::memory(memory, partRows(width), setOf({Axis::Block, Axis::Key}));
    form.outputs.push_back({term(terms::plus(), {before, std::move(sum)}), memory, partRows(width)});
  };
  add(ofMeans, mix.meanParts, problem.width());
  add(term(terms::select({1}), {sums}), mix.valueParts, problem.valueWidth());
  return stream(Stage{Axis::Key, tile, {{"chunks", Index(0), end, /*masked=*/true}}, plan.extents}, form);
}

KernelRegion Mix::products() const {
  KernelRegion region = stateKernel(plan, "eva_products");
  region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, problem.queryTile()});
  Source products = term(terms::rowProducts(), {x(Axis::Query, mix.cotangent), x(Axis::Query, mix.output)});
  region.outputs = {{term(terms::scale(-1), {products}), mix.products, {batch, head, rowsOf(Axis::Query)}}};
  return region;
}

KernelRegion Mix::jointly() {
  extents()[Axis::Part].count = partsOfGradients;
  Index part = Index::first(Axis::Part), count = shape.blockCount;
  Stage blocks{Axis::Block, 1, {{"blocks", part * count / partsOfGradients, (part + 1) * count / partsOfGradients, false}}, plan.extents};
  KernelRegion region = stateKernel(plan, "eva_pairs");
  region.grid.push_back({Axis::Part, tile::Axis::KeyPiece});
  region.effects = {clearedParts(), stream(blocks, {terms::nothing(), {}, {}, {clearedQueries(), pairsOfBlock(), pairsOfChunks()}})};
  return region;
}

KernelRegion Mix::parts() {
  int64_t d = problem.width(), dv = problem.valueWidth(), tile = problem.keyTile();
  Extents &own = extents();
  own[Axis::Key].size = shape.chunkCount, own[Axis::Part].count = partsOfGradients;
  Source each = term(terms::writtenState(Representation::Plain), {fusion::memory(mix.meanParts, partRows(d)), fusion::memory(mix.valueParts, partRows(dv))});
  SmallVector<SmallVector<int64_t>> shapes{{tile, d}, {tile, dv}};
  Source sums = stream(Stage{Axis::Part, 1, {{"parts", Border::Begin, Border::End, false}}, plan.extents}, {terms::compose(Representation::Plain, shapes), {each}});
  KernelRegion region = stateKernel(plan, "eva_parts");
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, tile});
  region.outputs = {{term(terms::select({0}), {sums}), mix.means, {batch, head, rowsOf(Axis::Key), columnsOf(d)}},
                    {term(terms::select({1}), {sums}), mix.values, {batch, head, rowsOf(Axis::Key), columnsOf(dv)}}};
  return region;
}

SmallVector<KernelRegion, 4> kernel::evaMixGradientRegions(const Problem &problem, const EvaShape &shape, const EvaMixGradient &mix) {
  auto gradient = [&] { return Mix(problem, shape, mix); };
  if (mix.meanParts)
    return {gradient().products(), gradient().jointly(), gradient().parts()};
  SmallVector<KernelRegion, 4> regions;
  if (mix.tokens.query.memory)
    regions.push_back(gradient().queries());
  if (mix.tokens.key.memory)
    regions.push_back(gradient().keys());
  if (mix.means) {
    regions.push_back(gradient().chunks());
    if (shape.hasEdges())
      regions.push_back(gradient().edges());
  }
  return regions;
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

namespace {
class Rows : Place {
public:
  Rows(const Problem &problem, const EvaShape &shape, const EvaSummaryGradient &gradient)
      : problem(problem), shape(shape), gradient(gradient), plan(problem) {}

  /// `count` rows of the summaries, each of the keys of some ranges, in `row`.
  KernelRegion rows(StringRef suffix, Index count, Index row, ArrayRef<Entries> ranges, Index ofChunk) const;
  KernelRegion members() const;
  KernelRegion runs() const;

private:
  const Problem &problem;
  const EvaShape &shape;
  const EvaSummaryGradient &gradient;
  RegionPlanner plan;
};
} // namespace

KernelRegion Rows::rows(StringRef suffix, Index count, Index row, ArrayRef<Entries> ranges, Index ofChunk) const {
  EvaRow own(problem, shape, std::move(count), ranges, std::move(ofChunk));
  int64_t d = problem.width(), dv = problem.valueWidth();
  double scale = shape.options.scale, muWeight = shape.options.muWeight;
  Dimension at{std::nullopt, 1, 0, 1, 1};
  at.at = std::move(row);
  auto load = [&](Value memory, int64_t width) { return fusion::memory(memory, {batch, head, at, columnsOf(width)}); };
  Source given = load(gradient.values, dv), lse = term(terms::logSumExp(), {own.sums});
  Source product = term(terms::rowProducts(), {given, term(terms::softmaxFinish(), {own.sums})});       // γ [1]
  Source w = term(terms::softmaxWeights(), {own.logits, lse});
  Source reached = term(terms::logits(Representation::Plain, 1, /*wide=*/true), {given, own.v});
  Source x = term(terms::times(), {w, term(terms::minus(), {reached, product})});
  Source sum = stream(own.keys, {terms::weightedSums({d}, /*wide=*/true, /*withSums=*/false), {x, own.k}});
  Source ofMean = term(terms::scale(muWeight), {term(terms::scale(scale), {sum})});                     // mu_weight μ̄ [1, d]
  Source ofKeys = term(terms::over(), {term(terms::plus(), {load(gradient.means, d), ofMean}), own.keyCount});
  KernelRegion region = own.region(problem, suffix);
  region.outputs = {{own.mu, gradient.mu, {batch, head, at, columnsOf(d)}},
                    {ofKeys, gradient.keyShares, {batch, head, at, columnsOf(d)}},
                    {term(terms::over(), {ofMean, own.queryCount}), gradient.queryShares, {batch, head, at, columnsOf(d)}},
                    {lse, gradient.lse, {batch, head, at}},
                    {product, gradient.products, {batch, head, at}}};
  return region;
}

/// Rows of the summaries are streamed in the place of queries.
KernelRegion Rows::members() const {
  int64_t d = problem.width(), dv = problem.valueWidth(), tile = problem.keyTile(), chunk = shape.options.chunk, local = shape.options.local;
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query] = {};
  (*extents)[Axis::Key] = {problem.key.memory, 2};
  auto there = [&](Source source) {
    return problem.lengths ? term(terms::rowsBefore(Axis::Key, shape.existing), {std::move(source)}) : source;
  };
  Source k = there(plan.tokens(problem.key, Axis::Key)), v = there(plan.tokens(problem.value, Axis::Key));
  Source mu = tokens(gradient.mu, Axis::Query, d), given = tokens(gradient.values, Axis::Query, dv);
  Source logits = term(terms::gaussianPairs(shape.options.scale * M_LOG2E), {mu, k});
  Source reached = term(terms::logits(Representation::Plain, 1, /*wide=*/true), {given, v});
  Source rest = term(terms::minus(), {reached, numbers(gradient.products, Axis::Query)});
  auto form = [&](function_ref<terms::TermPtr()> members) {
    Source w = term(terms::softmaxWeights(), {term(members(), {logits}), numbers(gradient.lse, Axis::Query)});
    Source ones = term(members(), {term(terms::filled(Axis::Query, tile, 1), {})});
    return StepForm{terms::memberSums(d, dv), {w, given, term(terms::times(), {w, rest}), mu, ones, tokens(gradient.keyShares, Axis::Query, d)}};
  };
  Index first = Index::first(Axis::Key), last = min(first + tile, shape.tokens) - 1;
  StepForm ofChunks = form([&] { return terms::chunkMembers(chunk); });
  Stage rows{Axis::Query, problem.queryTile(), {{"chunks", first / chunk, last / chunk + 1, /*masked=*/true}}, extents};
  if (shape.hasEdges()) {
    Index from = first / chunk * chunk / local * 2, end = (min((last / chunk + 1) * chunk, shape.tokens) - 1) / local * 2 + 2;
    rows.segments.push_back({"edges", shape.chunkCount + from, shape.chunkCount + end, /*masked=*/true,
                             std::make_shared<StepForm>(form([&] { return terms::edgeMembers(chunk, local, shape.chunkCount); }))});
  }
  Source sums = stream(rows, ofChunks);
  auto sum = [&](unsigned which) { return term(terms::select({which}), {sums}); };
  Source ofMu = term(terms::minus(), {sum(1), term(terms::times(), {k, sum(2)})});
  Source ofKeys = term(terms::plus(), {term(terms::scale(shape.options.scale), {ofMu}), sum(3)});
  KernelRegion region{problem.name, "eva_members", problem.schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head}}, extents, {}};
  region.grid.push_back({Axis::Key, tile::Axis::KeyPiece, tile});
  auto store = [&](Source value, Value memory, int64_t width, bool adds) {
    if (memory)
      region.outputs.push_back(storeOrAdd(there(std::move(value)), memory, {batch, head, rowsOf(Axis::Key), columnsOf(width)}, adds));
  };
  store(sum(0), gradient.tokens.value.memory, dv, gradient.tokens.addsToValue);
  store(ofKeys, gradient.tokens.key.memory, d, gradient.tokens.addsToKey);
  return region;
}

KernelRegion Rows::runs() const {
  int64_t d = problem.width(), chunk = shape.options.chunk, local = shape.options.local;
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Query] = (*extents)[Axis::Key] = {};
  (*extents)[Axis::Block].size = shape.chunkCount;
  Index number = Index::first(Axis::Block), length = shape.runOfChunk(), from = number * length;
  SmallVector<Dimension, 4> own{batch, head, entryOf(Axis::Block), columnsOf(d)};
  Source share = fusion::memory(gradient.queryShares, own);                                             // [d]
  if (shape.hasEdges()) {
    Stage edges{Axis::Query, problem.queryTile(), {}, extents};
    Index begin = number * chunk / local * 2, end = ((number + 1) * chunk - 1) / local * 2 + 2;
    edges.segments = {{"edges", shape.chunkCount + begin, shape.chunkCount + end, /*masked=*/true}};
    Source shares = term(terms::edgesOfChunk(chunk, local, shape.chunkCount), {tokens(gradient.queryShares, Axis::Query, d)});
    share = term(terms::plus(), {share, stream(edges, {terms::tokenSum(d), {shares}})});
  }
  Stage tokens{Axis::Key, problem.keyTile(), {{"run", from, from + length, /*masked=*/true}}, extents};
  Dimension rows = rowsOf(Axis::Key);
  rows.limit = from + length;
  StepForm step{terms::nothing(), {}};
  step.outputs.push_back(storeOrAdd(term(terms::overRows(Axis::Key), {share}), gradient.tokens.query.memory, {batch, head, rows, columnsOf(d)}, gradient.tokens.addsToQuery));
  KernelRegion region{problem.name, "eva_runs", problem.schedule, {{Axis::Batch, tile::Axis::Batch}, {Axis::Head, tile::Axis::Head}}, extents, {}};
  region.grid.push_back({Axis::Block, tile::Axis::QueryBlock});
  region.effects = {stream(tokens, step)};
  return region;
}

SmallVector<KernelRegion, 4> kernel::evaSummaryGradientRegions(const Problem &problem, const EvaShape &shape, const EvaSummaryGradient &gradient) {
  Rows rows(problem, shape, gradient);
  Index number = Index::first(Axis::Query);
  SmallVector<KernelRegion, 4> regions{rows.rows("eva_rows", shape.chunkCount, number, shape.keysOfChunk(number), number)};
  if (shape.hasEdges()) {
    EvaShape::Edge edge = shape.edge(number);
    regions.push_back(rows.rows("eva_edge_rows", shape.blockCount * 2, shape.chunkCount + number, edge.keys, edge.chunk));
  }
  if (gradient.tokens.key.memory || gradient.tokens.value.memory)
    regions.push_back(rows.members());
  if (gradient.tokens.query.memory)
    regions.push_back(rows.runs());
  return regions;
}
