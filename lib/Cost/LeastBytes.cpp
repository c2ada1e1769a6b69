//===- LeastBytes.cpp - Shared memory without which no kernel is made ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lowering that runs out of shared memory goes on with fewer stages, and at last loads operands again for each product. What it
// still takes then depends on where buffers come to lie that begin and end at different times. The formulas are upper bounds of
// that, by kernel, found with kernels of every form at widths of 48 and 160 and of 80 and 272 features; the test of docs/Limits.md
// compiles each size of its tables.
//
//===----------------------------------------------------------------------===//
#include "AttentionTiles.h"
#include "BlockNeed.h"

#include "llvm/Support/ErrorHandling.h"

using namespace attune;
using namespace attune::cost;

/// Rows of numbers, one a row or a column of a tile, and gaps between buffers.
static constexpr int64_t smallBuffers = 1024;

/// Results of reductions over columns that several warps share.
static int64_t reductions(const Tiles &t) {
  return smallBuffers + (t.warps.columns > 1 ? 4 * t.Tq * t.warps.columns : 0);
}

static int64_t tileBytes(int64_t rows, int64_t columns, int64_t bytes) { return rows * padded(columns) * bytes; }

/// Queries as they are and as operands, which scaling and wider elements make other tiles. One column of warps has them in
/// registers.
static int64_t leastOfWeights(const Tiles &t, int64_t bytes) {
  if (t.warps.columns == 1)
    return 0;
  int64_t wide = bytes > t.stored ? tileBytes(t.Tk, t.d, bytes) + tileBytes(t.Tk, t.dv, bytes) : 0;
  return t.queryBytes() + t.operandBytes(t.Tq, t.d, bytes) + t.operandBytes(t.Tq, t.Tk, bytes) + wide + reductions(t);
}

static int64_t keyAndValueTiles(const Tiles &t) { return tileBytes(t.Tk, t.d, t.stored) + tileBytes(t.Tk, t.dv, t.stored); }

/// S where a product reads it, before and behind which there is a gap that queries fill in part.
static int64_t stateAndGap(const Tiles &t, int64_t gap) { return tileBytes(1, t.dv, 4) * padded(t.m) + gap; }

/// f32 columns of 16 for each feature.
static int64_t featureColumns(const Tiles &t, int64_t groups) { return groups * tileBytes(16, t.m, 4); }

/// The queries come while omega and the keys' tiles still stand, or the state behind them.
static int64_t queriesOrGap(const Tiles &t) {
  return std::max(t.queryBytes() + featureColumns(t, 1), featureColumns(t, 2));
}

static int64_t leastOfState(const Tiles &t, bool logarithms) {
  int64_t features = tileBytes(t.Tk, t.m, 4), keys = keyAndValueTiles(t), omega = omegaBytes(t);
  int64_t operand = t.operandBytes(t.Tq, t.m, 4), copies = t.warps.columns > 1 ? t.queryBytes() : 0;
  if (t.shape.fused)
    return omega + stateAndGap(t, std::max({queriesOrGap(t), keys, features})) + operand + copies + reductions(t);
  int64_t pieces = keys + features + tileBytes(t.Tk, 16, t.stored);
  if (logarithms) // exponents wait for those of all features
    return omega + std::max(stateAndGap(t, queriesOrGap(t)) + operand, pieces) + 2 * smallBuffers + reductions(t);
  int64_t readout = std::max(omega, stateAndGap(t, featureColumns(t, 1))) + t.queryBytes() + operand;
  return std::max(readout, pieces) + smallBuffers + reductions(t);
}

/// How often omega is held: masked and unmasked tiles have loops of their own, which the products of logarithms load it for.
static int64_t omegas(const Tiles &t, bool logarithms) {
  return logarithms && t.shape.causal && t.warps.columns > 1 ? 2 : 1;
}

static int64_t leastOfChunks(const Tiles &t, bool logarithms) {
  bool many = t.warps.columns > 1;
  int64_t queries = many || logarithms ? tileBytes(t.Tq, t.m, 4) : 0;
  int64_t state = stateAndGap(t, featureColumns(t, logarithms && many ? 2 : 1));
  return omegas(t, logarithms) * omegaBytes(t) + state + std::max(t.queryBytes(), keyAndValueTiles(t)) +
         tileBytes(t.Tk, t.m, 4) + queries + t.operandBytes(t.Tq, t.Tk, 4) + reductions(t);
}

static int64_t leastOfPairs(const Tiles &t, bool logarithms) {
  if (t.warps.columns == 1 && !logarithms)
    return 0;
  int64_t bytes = logarithms ? 4 : t.mapped;
  return omegas(t, logarithms) * omegaBytes(t) + tileBytes(t.Tk, t.m, bytes) + tileBytes(t.Tk, t.dv, t.stored) +
         std::max(t.queryBytes(), keyAndValueTiles(t)) + t.operandBytes(t.Tq, t.m, bytes) +
         t.operandBytes(t.Tq, t.Tk, bytes) + reductions(t);
}

static int64_t leastOfKernel(const Tiles &t) {
  bool logarithms = t.shape.runningMaximum;
  switch (t.shape.form) {
  case attn::Form::State:
    return leastOfState(t, logarithms);
  case attn::Form::Chunked:
    return std::max(t.shape.split ? leastOfState(t, logarithms) : 0, leastOfChunks(t, logarithms));
  case attn::Form::Online:
  case attn::Form::Quadratic:
    return leastOfPairs(t, logarithms);
  }
  llvm_unreachable("every form is above");
}

/// The kernel that sketches tokens: they and the tables of a level of the tree.
static int64_t leastOfSketch(const Tiles &t) {
  int64_t size = bounded(t.shape.sketch);
  return tileBytes(t.Tq, t.d, 4) + 4 * (padded(t.d) + size) * size + smallBuffers + reductions(t);
}

int64_t cost::leastBytes(const AttentionShape &shape, tile::ScheduleAttr schedule) {
  Tiles tiles(shape, schedule);
  switch (shape.family) {
  case Family::Softmax:
    return leastOfWeights(tiles, tiles.stored);
  case Family::Agent:
  case Family::Eva:
  case Family::Polynomial:
    return leastOfWeights(tiles, 4);
  case Family::Polysketch:
    return leastOfSketch(tiles);
  case Family::Effatt:
    return leastOfState(tiles, /*logarithms=*/true);
  case Family::Kernel:
    return leastOfKernel(tiles);
  default:
    return 0; // layers
  }
}
