//===- IssuedKernelAttention.cpp - What the warps of a GPU do for kernel attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `runningMaximum`: the kernels of lib/Kernel/Favor*.cpp, whose features are given by their logarithms and whose states
// have a maximum of each feature beside its sum.
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"

#include "attune/Attn/Exponents.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

/// Vectors beside the matrix of a state: the sum, and the maxima.
static double vectorsOf(const AttentionShape &shape) { return shape.runningMaximum ? 2 : 1; }

/// The matrices and vectors of `times` states.
static void storeState(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times) {
  work.move(times * z.m, z.dv);
  work.storeVector(times * z.m * vectorsOf(shape));
}

/// A product of features by features, [rows, columns], for `times` tiles.
static void multiplyFeatures(IssuedWork &work, const AttentionShape &shape, double times, double rows, double columns,
                             Operands operands) {
  for (double block : featureBlocks(shape))
    work.multiply(times, rows, columns, block, operands);
}

/// S [m, dv] of a tile of keys.
static void addToState(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, Operands operands) {
  for (double block : featureBlocks(shape))
    work.multiply(tiles, block, z.dv, z.Tk, operands);
}

/// The largest exponent of the keys.
static IssuedWork issuedKeyMaximum(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features;
  IssuedWork work(z);
  loadMap(work, shape, z, points);
  loadKeys(work, z, points * z.N);
  loadTurns(work, z, points, shape.keyRope);
  mapQueries(work, shape, z, points * z.keyTiles, z.Tk);
  work.storeVector(points);
  return work;
}

/// Bands of exponents, and the product before them that finds the scale of each row.
static double productsOfBands(const AttentionShape &shape, const Sizes &z) {
  return 1 + static_cast<double>(attn::bandCount(shape.map, shape.width));
}

static IssuedWork issuedQuadratic(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), pairs = points * z.pairs, keys = points * z.keysRead;
  IssuedWork work(z);
  loadMap(work, shape, z, points * z.blocks);
  work.move(shape.keyMaximum ? points * z.blocks : 0, 1);
  loadQueries(work, z, points * z.n);
  loadKeys(work, z, keys);
  loadTurns(work, z, points * z.blocks, hasRope(shape));
  work.move(keys, z.dv, z.k);
  mapQueries(work, shape, z, points * z.blocks, z.Tq);
  mapKeys(work, shape, z, pairs, z.Tk);
  double diagonal = shape.runningMaximum && shape.causal ? points * z.blocks : 0;
  Operands operands = shape.runningMaximum ? Operands::F32 : Operands::Features;
  multiplyFeatures(work, shape, pairs - diagonal, z.Tq, z.Tk, operands);
  if (diagonal > 0)
    multiplyFeatures(work, shape, diagonal * productsOfBands(shape, z), z.Tq, z.Tk, operands);
  work.multiply(pairs, z.Tq, z.dv, z.Tk, operands);
  storeOutput(work, shape, z);
  return work;
}

static IssuedWork issuedState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features, tiles = points * tilesOfPieces(z);
  IssuedWork work(z);
  loadMap(work, shape, z, points * z.pieces);
  work.move(shape.keyMaximum ? points * z.pieces : 0, 1);
  loadKeys(work, z, points * z.N);
  loadTurns(work, z, points * z.pieces, shape.keyRope);
  work.move(points * z.N, z.dv, z.k);
  mapKeys(work, shape, z, tiles, z.Tk);
  addToState(work, shape, z, tiles, Operands::Features);
  storeState(work, shape, z, points * z.pieces);
  return work;
}

/// `times` reads of the state by tiles of `rows` queries.
static void loadState(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times) {
  work.move(times * z.m, z.dv);
  work.loadAlongColumns(times * z.m * vectorsOf(shape));
}

static IssuedWork issuedReadout(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), tiles = points * z.blocks;
  IssuedWork work(z);
  loadMap(work, shape, z, tiles);
  loadQueries(work, z, points * z.n);
  loadTurns(work, z, tiles, shape.queryRope);
  mapQueries(work, shape, z, tiles, z.Tq);
  loadState(work, shape, z, tiles);
  multiplyFeatures(work, shape, tiles, z.Tq, z.dv, Operands::F32);
  storeOutput(work, shape, z);
  return work;
}

/// omega is kept for both sides, the state where products read it.
static IssuedWork issuedFused(const AttentionShape &shape, const Sizes &z) {
  double states = z.batch * z.features, keyTiles = states * z.keyTiles;
  double points = z.points(), tiles = points * z.blocks;
  IssuedWork work(z);
  loadMap(work, shape, z, states);
  work.move(shape.keyMaximum ? states : 0, 1);
  loadKeys(work, z, states * z.N);
  loadQueries(work, z, points * z.n);
  loadTurns(work, z, states, hasRope(shape));
  work.move(states * z.N, z.dv, z.k);
  mapKeys(work, shape, z, keyTiles, z.Tk);
  addToState(work, shape, z, keyTiles, Operands::Features);
  mapQueries(work, shape, z, tiles, z.Tq);
  multiplyFeatures(work, shape, tiles, z.Tq, z.dv, Operands::F32);
  storeOutput(work, shape, z);
  if (shape.finalState)
    storeState(work, shape, z, states);
  return work;
}

/// A grid point for each query head; `grouped`: for each key-value head, whose query heads share all that is of the keys.
static IssuedWork issuedChunked(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), tiles = points * z.keyTiles, T = z.Tk;
  double sharing = shape.grouped ? z.batch * z.shared : points, keyTiles = sharing * z.keyTiles;
  IssuedWork work(z);
  loadMap(work, shape, z, sharing);
  loadQueries(work, z, points * z.n);
  loadKeys(work, z, sharing * z.N);
  loadTurns(work, z, sharing, hasRope(shape));
  work.move(sharing * z.N, z.dv, z.k);
  if (shape.initialState)
    loadState(work, shape, z, sharing);
  mapQueries(work, shape, z, tiles, T);
  mapKeys(work, shape, z, keyTiles, T);
  Operands operands = shape.runningMaximum ? Operands::F32 : Operands::Features;
  multiplyFeatures(work, shape, tiles, T, z.dv, Operands::F32);
  multiplyFeatures(work, shape, tiles * (shape.runningMaximum ? productsOfBands(shape, z) : 1), T, T, operands);
  work.multiply(tiles, T, z.dv, T, operands);
  addToState(work, shape, z, keyTiles, operands);
  storeOutput(work, shape, z);
  return work;
}

/// Parts of the sequence side by side: the states of the pieces before the last part; then each part loads its parameters,
/// and begins at the initial state and the sum of the pieces before it.
static IssuedWorks issuedSplit(const AttentionShape &shape, const Sizes &z) {
  SplitSizes split(z, z.Tk);
  Sizes before = z;
  before.N = split.keys, before.pieces = split.pieces;
  IssuedWork chunks = issuedChunked(shape, z);
  double others = z.points() * (split.parts - 1);
  loadMap(chunks, shape, z, others);
  loadTurns(chunks, z, others, hasRope(shape));
  loadState(chunks, shape, z, z.points() * split.merges + (shape.initialState ? others : 0));
  return {issuedState(shape, before), chunks};
}

//===----------------------------------------------------------------------===//
// The naive low rank
//===----------------------------------------------------------------------===//

/// E [k, N] times what becomes of tokens of `width`, in blocks of columns.
static IssuedWork issuedSlots(const AttentionShape &shape, const Sizes &z, double heads, double width,
                              llvm::ArrayRef<double> blocks, bool maps) {
  double points = z.batch * heads, k = static_cast<double>(shape.rank), tile = std::min(k, z.Tq);
  double slots = std::ceil(k / tile), tiles = points * slots * tilesOfPieces(z), columns = 0;
  IssuedWork work(z);
  work.move(points * k, z.N, storageBytes(z));
  work.move(points * slots * z.N, width, z.k);
  if (maps) {
    loadMap(work, shape, z, points * slots * z.pieces);
    loadTurns(work, z, points * slots * z.pieces, shape.keyRope);
    mapKeys(work, shape, z, tiles, z.Tk);
  }
  for (double block : blocks)
    work.multiply(tiles, tile, block, z.Tk, Operands::Storage), columns += block;
  work.move(points * z.pieces * k, columns);
  return work;
}

/// The state of the slots, one block a head.
static IssuedWork issuedSlotState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features, k = static_cast<double>(shape.rank);
  IssuedWork work(z);
  work.move(points * k, z.m);
  work.move(points * k, z.dv);
  work.multiply(points * std::ceil(k / z.Tk), z.m, z.dv, z.Tk, Operands::Features);
  work.move(points * z.m, z.dv);
  return work;
}

static IssuedWork issuedSlotReadout(const AttentionShape &shape, const Sizes &z) {
  IssuedWork work = issuedReadout(shape, z);
  IssuedWork sums(z); // there is no denominator
  sums.loadAlongColumns(z.points() * z.blocks * z.m * vectorsOf(shape));
  work.bytes -= sums.bytes;
  return work;
}

static IssuedWorks issuedNaiveLowRank(const AttentionShape &shape, const Sizes &z) {
  double k = static_cast<double>(shape.rank);
  return {issuedSlots(shape, z, z.features, z.d, featureBlocks(shape), /*maps=*/true),
          issuedMerge(z, z.batch * z.features, k, z.m, 0, 0),
          issuedSlots(shape, z, z.shared, z.dv, {z.dv}, /*maps=*/false),
          issuedMerge(z, z.batch * z.shared, k, z.dv, 0, 0),
          issuedSlotState(shape, z),
          issuedSlotReadout(shape, z)};
}

//===----------------------------------------------------------------------===//
// The forms
//===----------------------------------------------------------------------===//

IssuedWorks cost::issuedKernelAttention(const AttentionShape &shape, const Sizes &z) {
  if (shape.form == attn::Form::State && shape.rank)
    return issuedNaiveLowRank(shape, z);
  IssuedWorks kernels;
  if (shape.keyMaximum)
    kernels.push_back(issuedKeyMaximum(shape, z));
  if (shape.form == attn::Form::Quadratic)
    kernels.push_back(issuedQuadratic(shape, z));
  if (shape.form == attn::Form::Chunked && shape.split)
    kernels.append(issuedSplit(shape, z));
  else if (shape.form == attn::Form::Chunked)
    kernels.push_back(issuedChunked(shape, z));
  if (shape.form == attn::Form::State && shape.fused) {
    kernels.push_back(issuedFused(shape, z));
    return kernels;
  }
  if (shape.form == attn::Form::State || (shape.form == attn::Form::Chunked && shape.finalState)) {
    IssuedWork merge = issuedMerge(z, z.batch * z.features, z.m, z.dv, vectorsOf(shape), shape.initialState);
    kernels.push_back(issuedState(shape, z));
    if (shape.merged) { // an arrival is two exchanges: the first one finds what is there
      kernels.back().bytes += merge.bytes + z.batch * z.features * z.pieces * 2 * counterBytes;
      kernels.back().wideBytes += merge.wideBytes;
    } else {
      kernels.push_back(merge);
    }
  }
  if (shape.form == attn::Form::State)
    kernels.push_back(issuedReadout(shape, z));
  return kernels;
}
