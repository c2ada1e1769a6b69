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
  for (double block : featureBlocks(shape))
    work.storeRegisters(times, block, z.dv);
  work.storeVector(times * z.m * vectorsOf(shape));
}

/// A product of features by features, [rows, columns], for `times` tiles.
static void multiplyFeatures(IssuedWork &work, const AttentionShape &shape, double times, double rows, double columns,
                             Operands operands) {
  for (double block : featureBlocks(shape))
    work.multiply(times, rows, columns, block, operands);
}

/// S [m, dv] of a tile of keys, and the sum and the maximum of each feature.
static void addToState(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double tiles, Operands operands) {
  for (double block : featureBlocks(shape)) {
    work.multiply(tiles, block, z.dv, z.Tk, operands);
    work.reduceAlongColumns(tiles * vectorsOf(shape), block);
  }
}

/// The denominator of tiles of `rows` queries that read a state: a sum for each block of features, or of exponents one
/// and the row's maximum.
static void reduceReadout(IssuedWork &work, const AttentionShape &shape, double tiles, double rows) {
  work.reduceAlongRows(tiles * static_cast<double>(featureBlocks(shape).size()) * vectorsOf(shape), rows);
}

/// Sums and maxima of a tile's rows in `logPairs` and what goes before it: the largest exponent and the scale, and the
/// sum of the weights; without exponents the last one alone.
static constexpr double scaleOfPairs = 2, sumOfWeights = 1;

/// The largest exponent of the keys.
static IssuedWork issuedKeyMaximum(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features;
  IssuedWork work(z);
  loadMap(work, shape, z, points);
  loadKeys(work, z, points * z.N);
  loadTurns(work, z, points, shape.keyRope);
  takeKeys(work, shape, z, points * z.keyTiles, z.Tk);
  multiplyMap(work, shape, z, points * z.keyTiles, z.Tk, shape.queryFolded);
  // |k|² unless queries leave theirs out as well, and the largest of each row; at the end that of all.
  bool squares = !shape.map || shape.map.getStabilizer() != attn::Stabilizer::Projection;
  work.reduceAlongRows(points * z.keyTiles * (1 + squares), z.Tk);
  work.reduceAlongRows(points, 1);
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
  spreadStabilizer(work, shape, points * z.blocks, z.Tk);
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
  takeQueries(work, shape, z, points * z.blocks, z.Tq);
  takeKeys(work, shape, z, pairs, z.Tk);
  takeValues(work, z, pairs, z.Tk, operands);
  work.reduceAlongRows(pairs * sumOfWeights, z.Tq);
  if (shape.runningMaximum) { // maxima of features; of rows with them, or at the diagonal the scale
    work.reduceAlongColumns(pairs, z.m);
    work.reduceAlongRows((pairs - diagonal) + diagonal * scaleOfPairs, z.Tq);
  }
  storeOutput(work, shape, z);
  return work;
}

static IssuedWork issuedState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features, tiles = points * tilesOfPieces(z);
  IssuedWork work(z);
  loadMap(work, shape, z, points * z.pieces);
  spreadStabilizer(work, shape, points * z.pieces, z.Tk);
  loadKeys(work, z, points * z.N);
  loadTurns(work, z, points * z.pieces, shape.keyRope);
  work.move(points * z.N, z.dv, z.k);
  takeKeys(work, shape, z, tiles, z.Tk);
  takeValues(work, z, tiles, z.Tk, Operands::Features);
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

/// The same to go on with it.
static void carryState(IssuedWork &work, const AttentionShape &shape, const Sizes &z, double times) {
  loadState(work, shape, z, times);
  for (double block : featureBlocks(shape))
    work.loadToRegisters(times, block, z.dv);
}

static IssuedWork issuedReadout(const AttentionShape &shape, const Sizes &z) {
  double points = z.points(), tiles = points * z.blocks;
  IssuedWork work(z);
  loadMap(work, shape, z, tiles);
  loadQueries(work, z, points * z.n);
  loadTurns(work, z, tiles, shape.queryRope);
  takeQueries(work, shape, z, tiles, z.Tq);
  mapQueries(work, shape, z, tiles, z.Tq);
  loadState(work, shape, z, tiles);
  multiplyFeatures(work, shape, tiles, z.Tq, z.dv, Operands::F32);
  reduceReadout(work, shape, tiles, z.Tq);
  storeOutput(work, shape, z);
  return work;
}

/// omega is kept for both sides, the state where products read it.
static IssuedWork issuedFused(const AttentionShape &shape, const Sizes &z) {
  double states = z.batch * z.features, keyTiles = states * z.keyTiles;
  double points = z.points(), tiles = points * z.blocks;
  IssuedWork work(z);
  loadMap(work, shape, z, states);
  spreadStabilizer(work, shape, states, z.Tk);
  loadKeys(work, z, states * z.N);
  loadQueries(work, z, points * z.n);
  loadTurns(work, z, states, hasRope(shape));
  work.move(states * z.N, z.dv, z.k);
  takeKeys(work, shape, z, keyTiles, z.Tk);
  takeValues(work, z, keyTiles, z.Tk, Operands::Features);
  mapKeys(work, shape, z, keyTiles, z.Tk);
  addToState(work, shape, z, keyTiles, Operands::Features);
  takeQueries(work, shape, z, tiles, z.Tq);
  mapQueries(work, shape, z, tiles, z.Tq);
  multiplyFeatures(work, shape, tiles, z.Tq, z.dv, Operands::F32);
  reduceReadout(work, shape, tiles, z.Tq);
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
  spreadStabilizer(work, shape, sharing, T);
  loadQueries(work, z, points * z.n);
  loadKeys(work, z, sharing * z.N);
  loadTurns(work, z, sharing, hasRope(shape));
  work.move(sharing * z.N, z.dv, z.k);
  if (shape.initialState)
    carryState(work, shape, z, sharing);
  takeQueries(work, shape, z, tiles, T);
  mapQueries(work, shape, z, tiles, T);
  takeKeys(work, shape, z, keyTiles, T);
  mapKeys(work, shape, z, keyTiles, T);
  Operands operands = shape.runningMaximum ? Operands::F32 : Operands::Features;
  takeValues(work, z, keyTiles, T, operands);
  reduceReadout(work, shape, tiles, T);
  work.reduceAlongRows(tiles * (sumOfWeights + (shape.runningMaximum ? scaleOfPairs : 0)), T);
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
  spreadStabilizer(chunks, shape, others, z.Tk);
  loadTurns(chunks, z, others, hasRope(shape));
  carryState(chunks, shape, z, z.points() * split.merges + (shape.initialState ? others : 0));
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
  work.loadToRegisters(tiles, tile, z.Tk, storageBytes(z), z.N);
  if (maps) {
    loadMap(work, shape, z, points * slots * z.pieces);
    loadTurns(work, z, points * slots * z.pieces, shape.keyRope);
    spreadStabilizer(work, shape, points * slots * z.pieces, z.Tk);
    takeKeys(work, shape, z, tiles, z.Tk);
    mapKeys(work, shape, z, tiles, z.Tk);
  } else {
    takeValues(work, z, tiles, z.Tk, Operands::Storage);
  }
  for (double block : blocks) {
    work.multiply(tiles, tile, block, z.Tk, maps ? Operands::Features : Operands::Storage), columns += block;
    work.storeRegisters(points * z.pieces * slots, tile, block);
  }
  work.move(points * z.pieces * k, columns);
  return work;
}

/// The state of the slots, one block a head.
static IssuedWork issuedSlotState(const AttentionShape &shape, const Sizes &z) {
  double points = z.batch * z.features, k = static_cast<double>(shape.rank), tiles = points * std::ceil(k / z.Tk);
  IssuedWork work(z);
  work.move(points * k, z.m);
  work.move(points * k, z.dv);
  work.multiply(tiles, z.m, z.dv, z.Tk, Operands::Features);
  if (!takesF32(z, Operands::Features)) {
    work.loadToRegisters(tiles, z.Tk, z.m);
    work.loadToRegisters(tiles, z.Tk, z.dv);
  }
  work.move(points * z.m, z.dv);
  work.storeRegisters(points, z.m, z.dv);
  return work;
}

static IssuedWork issuedSlotReadout(const AttentionShape &shape, const Sizes &z) {
  IssuedWork work = issuedReadout(shape, z);
  IssuedWork sums(z); // there is no denominator
  sums.loadAlongColumns(z.points() * z.blocks * z.m * vectorsOf(shape));
  reduceReadout(sums, shape, z.points() * z.blocks, z.Tq);
  work.add(sums, -1);
  return work;
}

static IssuedWorks issuedNaiveLowRank(const AttentionShape &shape, const Sizes &z) {
  double k = static_cast<double>(shape.rank), tile = std::min(k, z.Tq);
  return {issuedSlots(shape, z, z.features, z.d, featureBlocks(shape), /*maps=*/true),
          issuedMerge(z, z.batch * z.features, k, z.m, 0, 0, tile),
          issuedSlots(shape, z, z.shared, z.dv, {z.dv}, /*maps=*/false),
          issuedMerge(z, z.batch * z.shared, k, z.dv, 0, 0, tile),
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
    IssuedWork merge = issuedMerge(z, z.batch * z.features, z.m, z.dv, vectorsOf(shape), shape.initialState,
                                   featureBlocks(shape).front());
    kernels.push_back(issuedState(shape, z));
    if (shape.merged) { // an arrival is two exchanges: the first one finds what is there
      kernels.back().add(merge);
      kernels.back().bytes += z.batch * z.features * z.pieces * 2 * counterBytes;
    } else {
      kernels.push_back(merge);
    }
  }
  if (shape.form == attn::Form::State)
    kernels.push_back(issuedReadout(shape, z));
  return kernels;
}
