//===- PolysketchRegions.cpp - Polynomial attention through sketches ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   w_ij = ⟨S(q_i), S(k_j)⟩², and ⟨q_i, k_j⟩^p inside diagonal blocks of b tokens
//
//   sketch:     S(q / |q|) and S(k), once                                      (SketchRegion.cpp)
//   quadratic:  parallel over (batch, head, query tile): all pairs             (SketchedPairs.cpp)
//   state:      the state of pieces of the keys, the pieces merged, a readout  (SketchedState.cpp)
//   chunked:    parallel over (batch, head): block after block
//   split:      the states of pieces of the keys before the last part; then chunked, parallel over parts as well
//
// A run that goes on from a state, or leaves one, has kernels that bring it in and out (HandedState.cpp); where blocks of exact weights
// may have begun in a run before, its tokens are laid behind those of the block that are held (AlignedBlocks.cpp).
//
//===----------------------------------------------------------------------===//
#include "AlignedBlocks.h"
#include "HandedState.h"
#include "Terms.h"

#include "attune/Kernel/SketchRules.h"
#include "attune/Tile/WindowTiles.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

/// The tiles of queries, and of keys, in blocks of exact weights.
static BlockTiles tilesOf(const Problem &problem, const PolysketchOptions &options) {
  int64_t rows = problem.schedule.getQueryTile(), block = options.localExact.value_or(rows);
  return {block, tile::windowTile(block, rows)};
}

/// Workspaces for the sketches of `tokens`, sketched for H heads.
static Sketched allocateSketches(BuildSite &site, const Problem &problem, const Tokens &tokens,
                                 const PolysketchOptions &options, bool queries) {
  TileBuilder host(site.host, site.loc);
  int64_t heads = problem.heads(), r = options.size;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  Value batch = host.dim(tokens.memory, 0), count = host.dim(tokens.memory, 2);
  Sketched result;
  bool once = productsOnce(problem, options);
  int64_t width = once ? r + r / 2 : r;
  result.tokens = {site.workspace({dynamic, heads, dynamic, width}, {batch, count}), 0, heads, r, {}};
  if (once) { // by the tiles of those who read columns
    result.grid = tilesOf(problem, options);
    result.columns = site.workspace({dynamic, heads, dynamic, r, result.grid.rows}, {batch, result.grid.count(host, count)});
  } else {
    int64_t rows = sketchSchedule(problem.schedule, tokens.width, r).getQueryTile();
    result.grid = {rows, rows};
  }
  if (queries)
    result.lengths = site.workspace({dynamic, heads, dynamic}, {batch, count});
  return result;
}

static KernelRegion regionOf(Problem problem, const Tokens &tokens, const PolysketchOptions &options, const KeyUnit &unit,
                             const Sketched &result, bool queries) {
  if (!result.columns)
    problem.schedule = sketchSchedule(problem.schedule, tokens.width, options.size);
  problem.name += queries ? "_query" : "_key";
  return sketchRegion(problem, tokens, options.matrices, queries ? options.scale : 1, unit, result);
}

static KeyUnit allocateUnit(BuildSite &site, const Problem &problem, const PolysketchOptions &options) {
  if (!sketchNeedsUnit(options.degree))
    return {};
  TileBuilder host(site.host, site.loc);
  constexpr int64_t dynamic = ShapedType::kDynamic;
  int64_t heads = problem.heads();
  Value batch = host.dim(problem.key.memory, 0), count = host.dim(problem.query.memory, 2);
  if (!problem.causal)
    return {site.workspace({dynamic, heads}, batch), {}, {}};
  auto numbers = [&](Value each) { return site.workspace({dynamic, heads, dynamic}, {batch, each}); };
  bool handed = options.begins() || options.ends();
  Value running = numbers(handed ? host.add(count, host.index(1)) : count); // with a place for that of the keys before
  return {{}, running, numbers(count)};
}

/// Blocks that go on from a state, and leave one.
static void appendHanded(BuildSite &site, const SketchedProblem &at, std::vector<KernelRegion> &regions) {
  const PolysketchOptions &options = at.options;
  SketchedState state = SketchedState::allocate(site, at);
  std::optional<SketchedState> apart;
  if (at.past && options.ends())
    apart = SketchedState::allocate(site, at);
  if (options.begins())
    regions.push_back(givenStateRegion(at, options.initial, state));
  regions.push_back(sketchedBlocksRegion(at, state, nullptr, options.begins(), apart ? &*apart : nullptr));
  Index tokens = at.full ? at.full : Index::size(at.query.tokens.memory, 2);
  if (options.left.matrix || options.left.sum || options.left.scale)
    regions.push_back(leftStateRegion(at, apart.value_or(state), options.left, tokens));
}

/// The kernels that read the sketches.
static void appendReaders(BuildSite &site, const SketchedProblem &at, std::vector<KernelRegion> &regions) {
  if (at.options.form == "quadratic")
    return regions.push_back(sketchedPairsRegion(at));
  TileBuilder host(site.host, site.loc);
  if (at.options.form == "state") {
    SketchedState state = SketchedState::allocate(site, at);
    regions.push_back(sketchedStateRegion(at, state));
    regions.push_back(sketchedReadoutRegion(at, state));
  } else if (at.options.begins() || at.options.ends()) {
    appendHanded(site, at, regions);
  } else if (!at.problem.split) {
    regions.push_back(sketchedBlocksRegion(at, SketchedState::allocate(site, at), nullptr));
  } else {
    Pieces cuts(at.problem, at.grid.block);
    SketchedState pieces = SketchedState::allocate(site, at, cuts.count(host));
    SketchedState state = SketchedState::allocate(site, at, cuts.partCount(host));
    pieces.part = Axis::Piece, state.part = Axis::Part;
    regions.push_back(sketchedStateRegion(at, pieces));
    regions.push_back(sketchedBlocksRegion(at, state, &pieces));
  }
}

/// The unit of the keys before a run that goes on or is gone on from.
static Source unitBefore(const PolysketchOptions &options) {
  if (options.begins())
    return unitBefore(options.initial, options.degree);
  return options.ends() ? term(terms::atLeast(leastLength), {number(Index(0))}) : Source();
}

/// The kernels of `problem`, of whole blocks if its blocks are aligned.
static void appendAttention(BuildSite &site, const Problem &problem, const PolysketchOptions &options, const AlignedBlocks *aligned, bool past,
                            std::vector<KernelRegion> &regions) {
  SketchedProblem at{problem, options, allocateUnit(site, problem, options), {}, {}, tilesOf(problem, options)};
  if (aligned)
    at.firstRow = aligned->before, at.endRow = aligned->behind, at.full = aligned->full, at.past = past;
  if (at.unit.running)
    regions.push_back(runningUnitRegion(problem, options.matrices, at.unit, unitBefore(options)));
  if (at.unit.largest)
    regions.push_back(largestKeyRegion(problem, at.unit));
  at.query = allocateSketches(site, problem, problem.query, options, /*queries=*/true);
  regions.push_back(regionOf(problem, problem.query, options, at.unit, at.query, /*queries=*/true));
  at.key = allocateSketches(site, problem, problem.key, options, /*queries=*/false);
  regions.push_back(regionOf(problem, problem.key, options, at.unit, at.key, /*queries=*/false));
  appendReaders(site, at, regions);
}

std::vector<KernelRegion> kernel::polysketchRegions(BuildSite &site, const Problem &problem, tile::ScheduleAttr rows,
                                                    const PolysketchOptions &options) {
  std::vector<KernelRegion> regions;
  bool aligns = options.localExact && (options.begins() || options.ends());
  if (!aligns) {
    appendAttention(site, problem, options, nullptr, false, regions);
    return regions;
  }
  AlignedBlocks aligned(site, problem, rows, options);
  aligned.appendBefore(regions);
  appendAttention(site, aligned.problem(), options, &aligned, static_cast<bool>(problem.lengths), regions);
  aligned.appendBehind(regions);
  return regions;
}
