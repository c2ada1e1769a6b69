//===- LayerWork.cpp - The work of projections and compressions -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include "attune/Tile/KernelSizes.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

static constexpr double modelTile = tile::modelTile;

/// x [n, D] · W [D, H·d] by heads.
static WorkEstimate projectWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.heads, depth = std::ceil(shape.model / modelTile) * modelTile;
  WorkEstimate work;
  work.products = points * z.rows() * depth * z.d;
  work.usefulProducts = points * z.n * shape.model * z.d; // §3: n D · H d
  work.workspaceBytes = points * z.n * z.d * 4;
  work.mainBytes = (z.batch * z.n + z.heads * z.d) * shape.model * z.o + work.workspaceBytes;
  work.nearBytes = points * (z.n + z.blocks * z.d) * shape.model * z.o + work.workspaceBytes;
  work.liveBytes = 4 * (z.Tq * (modelTile + z.d) + modelTile * z.d);
  work.grain = points * z.blocks;
  return work;
}

/// The heads side by side [n, H·dv] · W [H·dv, D], in columns of 64.
static WorkEstimate projectOutputWork(const AttentionShape &shape, const Sizes &z) {
  double columns = std::ceil(shape.model / modelTile), depth = z.heads * z.d;
  WorkEstimate work;
  work.products = z.batch * z.rows() * columns * modelTile * depth;
  work.usefulProducts = z.batch * z.n * depth * shape.model; // §3: n H dv · D
  work.mainBytes = z.batch * z.n * (depth * 4 + shape.model * z.o) + depth * shape.model * z.o;
  work.nearBytes =
      z.batch * columns * (z.n * depth * 4 + z.blocks * depth * modelTile * z.o) + z.batch * z.n * shape.model * z.o;
  work.liveBytes = 4 * (z.Tq * (modelTile + z.d) + modelTile * z.d);
  work.grain = z.batch * z.blocks * columns;
  return work;
}

/// E [k, N] · K [N, d] of every head, over pieces of the sequence.
static WorkEstimate compressWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.shared, k = shape.rank, tile = std::min(k, z.Tq), slotBlocks = std::ceil(k / tile);
  WorkEstimate work;
  work.products = points * z.keyRows() * slotBlocks * tile * z.d;
  work.usefulProducts = points * z.N * k * z.d; // §3: N k · H d
  work.elementwise = points * z.keyRows() * slotBlocks * keyOps(shape);
  work.workspaceBytes = points * z.pieces * 4 * k * z.d;
  work.mainBytes = points * z.N * z.d * z.k + shape.sharedWeights * k * z.N * z.o + work.workspaceBytes;
  work.nearBytes = points * slotBlocks * z.N * (z.d * z.k + tile * z.o) + work.workspaceBytes;
  work.liveBytes = 4 * (tile * (z.Tk + z.d) + z.Tk * z.d);
  work.grain = points * z.pieces * slotBlocks;
  return work;
}

KernelWorks cost::layerWork(const AttentionShape &shape, const Sizes &z) {
  if (shape.family == Family::Project)
    return {{"project", projectWork(shape, z)}};
  if (shape.family == Family::ProjectOutput)
    return {{"project_output", projectOutputWork(shape, z)}};
  return {{shape.model ? "compress_input" : "compress", compressWork(shape, z)},
          {"merge", mergeWork(z.batch * z.shared, z.pieces, shape.rank * z.d)}};
}
