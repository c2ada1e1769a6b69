//===- KernelAttentionWork.cpp - The work of each form of kernel attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With c = dv + 1, the values and the column of ones: nN(m + c) through pairs, (n + N) m c through the state,
// n (T / 2 (m + c) + 2 m c) in chunks of T (§4), and what the maps multiply by ω: m d a row (§5). The column of ones is
// a sum of elements in the kernels.
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"
#include "attune/Attn/Exponents.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

namespace {
/// What a query costs on its way through the map, and a key: no products where ω has been folded into the projection.
struct Maps {
  MapCost query, key;
};
} // namespace

static Maps mapsOf(const AttentionShape &shape, const Sizes &z) {
  MapCost map = mapCost(shape.map, z.d, z.m);
  Maps maps{map, map};
  maps.query.products *= !shape.queryFolded, maps.key.products *= !shape.keyFolded;
  if (shape.keysMapped)
    maps.key = splitMap(shape, maps.key, z.m).read;
  return maps;
}

/// Bytes of ω or of focus.
static double parameterBytes(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  return map.products > 0 ? 4 * map.products * (shape.featureHeads > shape.sharedHeads ? z.heads : 1) : 0;
}

/// What the maps need: every query once, every key once a head that maps it.
static double usefulMaps(const Sizes &z, const Maps &maps) {
  return z.batch * z.windows * (z.heads * z.n * maps.query.products + z.features * z.N * maps.key.products);
}

/// ω where either side still needs it.
static const MapCost &unfolded(const Maps &maps) { return maps.query.products > 0 ? maps.query : maps.key; }

/// The largest exponent of the keys, for a stabilizer that is a maximum over them.
static WorkEstimate keyMaximumWork(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  double points = z.batch * z.features;
  WorkEstimate work;
  work.products = points * z.keyRows() * map.products;
  work.usefulProducts = points * z.N * map.products;
  work.elementwise = points * z.keyRows() * (3 * z.d + z.m + keyOps(shape));
  work.workspaceBytes = points * 4;
  work.mainBytes = points * z.k * z.N * z.d + work.workspaceBytes + parameterBytes(shape, z, map);
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * (z.Tk * (z.d + z.m) + map.products);
  work.grain = points;
  return work;
}

/// What tiles of T queries and T keys cost more where features have maxima of their own. `seen` of them all queries
/// see: both sides are made relative to the keys' maxima. `diagonal` ones are cut into bands, after a first product for
/// the scale of each row.
static void addOwnMaxima(WorkEstimate &work, const AttentionShape &shape, const Sizes &z, double seen,
                         double diagonal) {
  double points = z.points(), features = z.Tk * z.m;
  auto bands = static_cast<double>(attn::bandCount(shape.map, shape.width)); // of the tile at the diagonal (LogPairs.h)
  work.products += points * diagonal * bands * z.Tk * z.Tk * z.m;
  work.exps += points * (seen * features + diagonal * (1 + 2 * bands) * features);
  work.elementwise += points * (seen * (6 * features + z.Tq * z.dv) + diagonal * (8 + 8 * bands) * features);
}

static WorkEstimate quadraticWork(const AttentionShape &shape, const Sizes &z, const Maps &maps) {
  double points = z.points(), mappedKeys = z.pairs * z.Tk;
  WorkEstimate work;
  // Every query block maps the keys that it visits anew.
  work.products = points * (z.pairs * z.Tq * z.Tk * (z.m + z.dv) + z.rows() * maps.query.products +
                            z.pairs * z.Tk * maps.key.products);
  work.usefulProducts = points * z.visible * (z.m + z.dv + 1) + usefulMaps(z, maps);
  work.exps = points * (mappedKeys * maps.key.exps + z.rows() * maps.query.exps);
  // The maps, the row sum; then the output divided.
  work.elementwise = points * (mappedKeys * (maps.key.elementwise + z.Tq + readKeyOps(shape)) +
                               z.rows() * (maps.query.elementwise + z.dv + queryOps(shape) + outputOps(shape)));
  work.elementwise += points * (z.pairs * z.Tq * z.Tk + z.rows() * z.m) * z.operandMoves();
  if (shape.runningMaximum) {
    double diagonal = shape.causal ? z.blocks : 0;
    addOwnMaxima(work, shape, z, z.pairs - diagonal, diagonal);
  }
  work.mainBytes = z.tensorBytes() + parameterBytes(shape, z, unfolded(maps));
  work.nearBytes = z.visitedBytes() + points * z.n * shape.taps * z.dv * z.k;
  work.liveBytes = 4 * (z.Tq * (z.d + z.m + z.dv) + z.Tk * (z.d + z.m + z.dv) + 2 * z.Tq * z.Tk +
                        unfolded(maps).products);
  work.grain = points * z.blocks;
  return work;
}

/// States of the pieces.
static WorkEstimate stateWork(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  double points = z.batch * z.features, rows = z.keyRows();
  WorkEstimate work;
  work.products = points * rows * (z.m * z.dv + map.products);
  work.usefulProducts = points * z.N * (z.m * (z.dv + 1) + map.products);
  work.exps = points * rows * map.exps;
  work.elementwise =
      points * rows * (map.elementwise + 2 * z.m + readKeyOps(shape)); // the map, its mask, the sum over keys
  if (shape.runningMaximum) {
    // The features' maxima, and the state rescaled once a tile.
    work.exps += points * z.keyTiles * z.m;
    work.elementwise += points * (rows * z.m + z.keyTiles * z.m * (z.dv + 1));
  }
  work.workspaceBytes = points * z.pieces * z.stateBytes();
  work.mainBytes = points * z.k * z.N * (z.kw + z.dv) + work.workspaceBytes + parameterBytes(shape, z, map);
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * (z.Tk * (z.d + z.m + z.dv) + map.products) + z.stateBytes();
  work.grain = points * z.pieces;
  return work;
}

/// States of the pieces, which the grid point of the last one merges: the work of both kernels in one launch.
static WorkEstimate mergedWork(const WorkEstimate &state, const WorkEstimate &merge) {
  WorkEstimate work = state;
  work.elementwise += merge.elementwise;
  work.mainBytes += merge.mainBytes, work.nearBytes += merge.nearBytes;
  work.workspaceBytes += merge.workspaceBytes + counterBytes * merge.grain;
  work.liveBytes = std::max(work.liveBytes, merge.liveBytes);
  work.lastOps = merge.elementwise, work.lastBytes = merge.nearBytes, work.lastGrain = merge.grain;
  return work;
}

static WorkEstimate readoutWork(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  double points = z.points(), rows = z.rows();
  WorkEstimate work;
  work.products = points * rows * (z.m * z.dv + map.products);
  work.usefulProducts = points * z.n * (z.m * (z.dv + 1) + map.products);
  work.exps = points * rows * map.exps;
  // The map, ⟨φ(q), z⟩; then the output divided. Maxima of the features are added, their largest is subtracted.
  double maxima = shape.runningMaximum ? 3 * z.m : 0;
  work.elementwise = points * rows * (map.elementwise + maxima + 2 * z.m + z.dv + queryOps(shape) + outputOps(shape));
  work.elementwise += points * rows * z.m * z.operandMoves();
  work.mainBytes =
      points * z.n * (z.qw * z.q + z.dv * z.o) + z.batch * z.features * z.stateBytes() + parameterBytes(shape, z, map);
  work.nearBytes = points * (z.n * (z.qw * z.q + z.dv * z.o) + z.blocks * z.stateBytes());
  work.liveBytes = 4 * (z.Tq * (z.d + z.m + z.dv) + map.products) + z.stateBytes();
  work.grain = points * z.blocks;
  return work;
}

/// The part of a chunk's T × T products that a CPU computes where one side is masked below the diagonal: whole register
/// blocks, so many tokens high or wide, as far as the diagonal meets them (lib/Lowering/CPU/Dot.cpp).
static double belowDiagonal(const Sizes &z, double block) {
  bool skips = z.schedule.getTarget() == tile::TargetKind::CPU;
  return skips ? (z.Tk + std::min(z.Tk, block)) / (2 * z.Tk) : 1;
}

/// State and readout in one kernel: the state stays where it is, and a head is one grid point. It is written only for
/// others.
static WorkEstimate fusedWork(const AttentionShape &shape, const Sizes &z, const Maps &maps) {
  double points = z.points(), states = z.batch * z.features, written = shape.finalState ? states * z.stateBytes() : 0;
  WorkEstimate state = stateWork(shape, z, maps.key), readout = readoutWork(shape, z, maps.query), work = state;
  work += readout;
  work.launches = 1;
  work.workspaceBytes = 0;
  work.mainBytes = z.tensorBytes() + parameterBytes(shape, z, unfolded(maps)) + written;
  work.nearBytes = states * z.N * (z.kw + z.dv) * z.k + points * z.n * (z.qw * z.q + z.dv * z.o) +
                   parameterBytes(shape, z, unfolded(maps)) + written;
  work.grain = states;
  return work;
}

/// The loop over chunks runs inside one grid point, so that batch and heads are all the parallelism there is.
static WorkEstimate chunkedWork(const AttentionShape &shape, const Sizes &z, const Maps &maps) {
  double points = z.batch * z.heads, T = z.Tk, rows = z.keyRows();
  WorkEstimate work;
  // Weights in blocks of 32 keys; their products with values in blocks of 8 queries, each up to its last one.
  double pairs = T * (z.m * belowDiagonal(z, 32) + z.dv * belowDiagonal(z, 8));
  work.products = points * rows * (pairs + 2 * z.m * z.dv + maps.query.products + maps.key.products);
  // Inside a chunk half of the pairs see each other.
  work.usefulProducts = points * z.n * ((T + 1) / 2 * (z.m + z.dv + 1) + 2 * z.m * (z.dv + 1)) + usefulMaps(z, maps);
  work.exps = points * rows * (maps.query.exps + maps.key.exps);
  // Two maps; mask of the keys, ⟨φ(q), z⟩ (2), sum over keys; mask and row sum of the weights; two sums added,
  // division.
  work.elementwise =
      points * rows *
      (maps.query.elementwise + maps.key.elementwise + 4 * z.m + 2 * T + 2 * z.dv + queryOps(shape) +
       readKeyOps(shape) + outputOps(shape));
  work.elementwise += points * rows * (T + z.m) * z.operandMoves();
  if (shape.runningMaximum && z.schedule.getTarget() == tile::TargetKind::CPU) {
    // All chunks but the first few are steady (lib/Kernel/Regions/LogChunkedRegion.cpp): the largest keys, and the units of the
    // queries.
    work.elementwise += points * rows * 3 * z.m;
  } else if (shape.runningMaximum) {
    addOwnMaxima(work, shape, z, 0, z.keyTiles);
    work.exps += points * z.keyTiles * z.m;
    work.elementwise += points * (rows * 2 * z.m + z.keyTiles * z.m * (z.dv + 1));
  }
  work.mainBytes = z.tensorBytes() + parameterBytes(shape, z, unfolded(maps)) +
                   (shape.initialState ? z.batch * z.features * z.stateBytes() : 0);
  work.nearBytes = points * z.n * (z.qw * z.q + z.dv * z.o + (z.kw + z.dv) * z.k);
  work.liveBytes = 4 * (T * (2 * z.d + 2 * z.m + 3 * z.dv) + 2 * T * T + unfolded(maps).products) + z.stateBytes();
  work.grain = points;
  return work;
}

/// Parts of the sequence side by side: the states of the pieces before the last part, work that one part would not have, then
/// chunks that begin at sums of them.
static KernelWorks splitWork(const AttentionShape &shape, const Sizes &z, const Maps &maps) {
  SplitSizes split(z, z.Tk);
  Sizes before = z;
  before.N = split.keys, before.keyTiles = split.keys / z.Tk, before.pieces = split.pieces;
  WorkEstimate state = stateWork(shape, before, maps.key), chunks = chunkedWork(shape, z, maps);
  state.usefulProducts = 0;
  double merged = z.batch * z.heads * split.merges;
  chunks.elementwise += merged * z.m * (z.dv + 1) * (shape.runningMaximum ? 3 : 1); // both sides are rescaled
  chunks.nearBytes += merged * z.stateBytes();
  chunks.grain *= split.parts;
  return {{"state", state}, {"chunked", chunks}};
}

/// φ(K) or V compressed to `rank` slots, the naive low rank: Σ_j E [k, j] φ(k_j) [j, width].
static WorkEstimate slotsWork(const AttentionShape &shape, const Sizes &z, double width, const MapCost &map) {
  double points = z.batch * (width == z.m ? z.features : z.shared), k = shape.rank, rows = z.keyRows();
  double slotBlocks = std::ceil(k / z.Tq);
  WorkEstimate work;
  work.products = points * rows * (k * width + slotBlocks * map.products);
  work.usefulProducts = points * z.N * (k * width + map.products); // §3: N k d
  work.exps = points * rows * slotBlocks * map.exps;
  work.elementwise = points * rows * slotBlocks * map.elementwise;
  work.workspaceBytes = points * z.pieces * 4 * k * width;
  work.mainBytes = points * z.N * width * z.k + k * z.N * z.k + work.workspaceBytes;
  work.nearBytes = points * slotBlocks * z.N * (width + z.Tq) * z.k;
  work.liveBytes = 4 * (z.Tk * (z.d + width) + z.Tq * (z.Tk + width) + map.products);
  work.grain = points * z.pieces * slotBlocks;
  return work;
}

/// Through slots: E φ(K) and F V, then the state of the slots.
static KernelWorks naiveLowRankWork(const AttentionShape &shape, const Sizes &z, const MapCost &map) {
  AttentionShape slots = shape;
  slots.keys = shape.rank, slots.keyBytes = 4;
  Sizes inner = z;
  inner.N = shape.rank, inner.keyTiles = std::ceil(inner.N / z.Tk), inner.pieces = 1, inner.k = 4;
  MapCost none;
  return {{"compress", slotsWork(shape, z, z.m, map)},
          {"merge", mergeWork(z.batch * z.features, z.pieces, shape.rank * z.m)},
          {"compress", slotsWork(shape, z, z.dv, none)},
          {"merge", mergeWork(z.batch * z.shared, z.pieces, shape.rank * z.dv)},
          {"state", stateWork(slots, inner, none)},
          {"readout", readoutWork(shape, z, map)}};
}

KernelWorks cost::kernelAttentionWork(const AttentionShape &shape, const Sizes &z) {
  Maps maps = mapsOf(shape, z);
  double elements = z.m * (z.dv + 1), initial = shape.initialState;
  KernelWorks kernels;
  MapCost key = mapCost(shape.map, z.d, z.m);
  key.products *= !shape.keyFolded;
  if (shape.keyMaximum)
    kernels.push_back({"key_maximum", keyMaximumWork(shape, z, key)});
  if (shape.keysMapped)
    kernels.push_back({"features", featuresWork(shape, z, splitMap(shape, key, z.m).written)});
  auto addState = [&] {
    WorkEstimate state = stateWork(shape, z, maps.key);
    WorkEstimate merge = mergeWork(z.batch * z.features, z.pieces, elements, initial);
    if (shape.merged)
      return kernels.push_back({"merged_state", mergedWork(state, merge)});
    kernels.push_back({"state", state});
    kernels.push_back({"merge", merge});
  };
  if (shape.form == attn::Form::Quadratic)
    kernels.push_back({"quadratic", quadraticWork(shape, z, maps)});
  if (shape.form == attn::Form::Chunked && shape.split)
    kernels.append(splitWork(shape, z, maps));
  else if (shape.form == attn::Form::Chunked) {
    kernels.push_back({"chunked", chunkedWork(shape, z, maps)});
    if (shape.grouped)
      shareGroups(kernels.back().work, shape, z, maps.key);
  }
  if (shape.form == attn::Form::State && shape.rank)
    return naiveLowRankWork(shape, z, maps.query);
  if (shape.form == attn::Form::State && shape.fused) {
    kernels.push_back({"fused_state", fusedWork(shape, z, maps)});
    return kernels;
  }
  if (shape.form == attn::Form::State || (shape.form == attn::Form::Chunked && shape.finalState))
    addState();
  if (shape.form == attn::Form::State)
    kernels.push_back({"readout", readoutWork(shape, z, maps.query)});
  return kernels;
}
