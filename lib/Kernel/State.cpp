//===- State.cpp - Kernel attention in two passes: state and readout -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state:    parallel over (batch, KV head, piece)      S = φ(K)ᵀ V, z = φ(K)ᵀ 1 over the keys of the piece
//   merge:    parallel over (batch, KV head)             S = S₀ + Σ_pieces S, in the order of the pieces
//   readout:  parallel over (batch, head, query block)   o = φ(q) S / guard(φ(q) z)
//
// `merged_state` is both of the first two: the grid point whose piece is stored last merges all. A piece has a fixed
// number of keys, so the order of sums depends on N alone. Fused, the tiles are those of one kernel (FusedState.cpp) and
// the keys one piece.
//
//===----------------------------------------------------------------------===//
#include "FusedState.h"
#include "LastPiece.h"
#include "PieceStates.h"
#include "QueryBlocks.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;

/// o [Tq, dv] of features a [Tq, m].
static Value outputOf(TileBuilder &tiles, const Problem &problem, attn::DenominatorAttr guard, const Features &a,
                      ValueRange state) {
  auto [numerator, denominator] = readState(tiles, state, a, stateOperand(problem, tiles)); // [Tq, dv], [Tq]
  return normalize(tiles, guard, numerator, denominator);
}

static void buildMerge(BuildSite &site, const Problem &problem, const FeatureMap &map, const PieceStates &memories) {
  KernelFrame frame(site, problem, "merge", {tile::Axis::Batch, tile::Axis::Head},
                    {memories.states, memories.sums, problem.initialState, problem.initialSum, memories.state, memories.sum});
  TileBuilder &tiles = frame.tiles;
  mergePieces(tiles, frame, problem, map, memories, tiles.programId(tile::Axis::Batch), tiles.programId(tile::Axis::Head));
  TileBuilder host(site.host, site.loc);
  frame.finish(site, {host.dim(memories.states, 0), host.dim(memories.states, 1)});
}

void kernel::buildState(BuildSite &site, const Problem &problem, const FeatureMap &map, Value state, Value sum) {
  PieceStates memories = allocatePieces(site, problem, map);
  memories.state = state, memories.sum = sum;
  TileBuilder host(site.host, site.loc);
  Value counters = problem.merged
                       ? counterWorkspace(site, host.dim(problem.key.memory, 0), parameterHeads(problem, map))
                       : Value();
  buildPieces(site, problem, map, memories, counters);
  if (!counters)
    buildMerge(site, problem, map, memories);
}

static void buildReadout(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard,
                         Value state, Value sum) {
  auto read = [&](TileBuilder &tiles, const KernelFrame &frame, const Point &point, Value firstQuery) {
    Value shared = tiles.div(point.head, problem.heads() / parameterHeads(problem, map));
    TokenReader query(tiles, frame, problem, problem.query, point, problem.heads());
    MapAtPoint mapped(tiles, frame, problem, map, point);
    Features a = mapped.features(tiles, query, firstQuery, problem.queryTile(), Side::Query); // [Tq, m]
    StatePlace place{frame[state], frame[sum], {point.batch, shared}};
    return outputOf(tiles, problem, guard, a, loadState(tiles, map, problem.valueWidth(), place));     // of [m, dv], [m]
  };
  buildQueryBlocks(site, problem, "readout", hostValues({&problem.query}, {map.parameter, state, sum}), read);
}

/// The kernel that keeps the state; it is stored only if somebody else reads it.
static void buildFused(BuildSite &site, const Problem &problem, const FeatureMap &map, attn::DenominatorAttr guard) {
  int64_t heads = parameterHeads(problem, map);
  auto prepare = [&](KernelFrame &frame, const Point &point, Value limit) {
    auto keys = std::make_shared<KeysAtPoint>(frame, problem, map, point, limit);
    StateSteps steps;
    steps.carry = frame.tiles.sums();
    steps.empty = zeroState(frame.tiles, map, problem.valueWidth());
    steps.add = [=](TileBuilder &tiles, Value first, ValueRange state) { return keys->add(tiles, first, state); };
    steps.read = [=, &problem](TileBuilder &tiles, const TokenReader &query, Value first, ValueRange state) {
      Features a = keys->mapped.features(tiles, query, first, problem.queryTile(), Side::Query); // [Tq, m]
      return outputOf(tiles, problem, guard, a, state);
    };
    if (problem.finalState)
      steps.finish = [=, &frame, &problem, &map, &point](TileBuilder &tiles, ValueRange state) {
        storeState(tiles, map, state, {frame[problem.finalState], frame[problem.finalSum], {point.batch, point.head}});
        return SmallVector<Value>(state);
      };
    return steps;
  };
  buildFusedState(site, problem, heads, {map.parameter, map.shift, problem.finalState, problem.finalSum}, prepare);
}

void kernel::buildStateAndReadout(BuildSite &site, const Problem &problem, const FeatureMap &map,
                                  attn::DenominatorAttr guard) {
  if (problem.fused)
    return buildFused(site, problem, map, guard);
  Value state = problem.finalState, sum = problem.finalSum;
  if (!state) {
    TileBuilder host(site.host, site.loc);
    int64_t heads = parameterHeads(problem, map);
    Value batch = host.dim(problem.key.memory, 0);
    state = site.workspace({ShapedType::kDynamic, heads, map.features, problem.valueWidth()}, batch);
    sum = site.workspace({ShapedType::kDynamic, heads, map.features}, batch);
  }
  buildState(site, problem, map, state, sum);
  buildReadout(site, problem, map, guard, state, sum);
}
