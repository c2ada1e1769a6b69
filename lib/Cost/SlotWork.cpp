//===- SlotWork.cpp - The work of slots of the input -*- C++ -*----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows E x, whose own work is that of a compression with a head for each block of columns.
//
//===----------------------------------------------------------------------===//
#include "WorkSizes.h"

#include "attune/Attn/CompressFirst.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

/// (E x) [k, D] · W [D, d of the head], in blocks of columns of x.
static WorkEstimate projectSlotsWork(const AttentionShape &shape, const Sizes &z) {
  double k = shape.rank, tile = std::min(k, z.Tq), blocks = std::ceil(k / tile), points = z.batch * z.heads;
  double width = std::min<double>(attn::inputColumns, shape.model), depth = std::ceil(shape.model / width) * width;
  WorkEstimate work;
  work.products = points * blocks * tile * depth * z.d;
  work.usefulProducts = points * k * shape.model * z.d; // §3: k D · H d
  work.workspaceBytes = points * k * z.d * 4;
  work.mainBytes = z.batch * shape.sharedWeights * k * depth * 4 + z.heads * z.d * shape.model * z.o + work.workspaceBytes;
  work.nearBytes = points * (k * depth * 4 + blocks * z.d * shape.model * z.o) + work.workspaceBytes;
  work.liveBytes = 4 * (tile * (width + z.d) + width * z.d);
  work.grain = points * blocks;
  return work;
}

/// E 1: every entry once.
static WorkEstimate slotSumsWork(const AttentionShape &shape, const Sizes &z) {
  double k = shape.rank, tile = std::min(k, z.Tq), points = z.batch * shape.sharedWeights;
  WorkEstimate work;
  work.elementwise = points * std::ceil(k / tile) * tile * z.keyRows();
  work.workspaceBytes = points * k * 4;
  work.mainBytes = shape.sharedWeights * k * z.N * z.o + work.workspaceBytes;
  work.nearBytes = points * k * z.N * z.o + work.workspaceBytes;
  work.liveBytes = 4 * tile * z.Tk;
  work.grain = points * std::ceil(k / tile);
  return work;
}

KernelWorks cost::slotWork(const AttentionShape &shape, const Sizes &z) {
  if (shape.family == Family::SlotSums)
    return {{"slot_sums", slotSumsWork(shape, z)}};
  return {{"project_slots", projectSlotsWork(shape, z)}};
}
