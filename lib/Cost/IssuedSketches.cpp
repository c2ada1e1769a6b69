//===- IssuedSketches.cpp - What the warps of a GPU do for polysketch attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of lib/Kernel/Polysketch.cpp and Sketch.cpp. Sketches and states are f32, and so are all products.
//
//===----------------------------------------------------------------------===//
#include "IssuedWork.h"
#include "SketchSizes.h"

#include "attune/Kernel/SketchRules.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

namespace {
/// One kernel under construction.
struct SketchKernel {
  const AttentionShape &shape;
  const Sketches &at;
  const Sizes &z;
  IssuedWork work;

  SketchKernel(const AttentionShape &shape, const Sketches &at, const Sizes &z) : shape(shape), at(at), z(z), work(z) {}

  bool running() const { return shape.causal && kernel::sketchNeedsUnit(shape.degree); }
  double tilesPerBlock() const { return std::ceil(at.block / at.T); }
  double blocks() const { return std::ceil(z.n / at.block); }

  void startRows(double rows);
  void loadExactQueries(double rows);
  void takeExactQueries(double tiles);
  void multiplyPairs(double tiles, double rows, bool exact);
  void ownBlocks(double tilesOfLast);
  void clearState(double times);
  void loadSlices(double times);
  void readState(double tiles, double rows);
  void addToSlices(double times, double tiles, double rows);
};
} // namespace

/// The scale of each row, if there is a guard to scale.
void SketchKernel::startRows(double rows) {
  if (shape.guarded)
    work.loadAlongRows(rows * (running() ? 2 : 1));
}

void SketchKernel::clearState(double times) {
  work.move(times * at.r * at.r, z.dv);
  work.storeRegisters(times * at.r, at.r, z.dv);
  work.storeVector(times * at.r * (at.r + 1));
}

void SketchKernel::loadExactQueries(double rows) {
  loadQueries(work, z, rows);
  if (running())
    work.loadAlongRows(rows);
}

void SketchKernel::takeExactQueries(double tiles) {
  takeQueries(work, shape, z, tiles, at.T);
  work.reduceAlongRows(tiles, at.T); // the norm
}

/// `tiles` pairs of tiles, whose keys have `rows` rows that exist.
void SketchKernel::multiplyPairs(double tiles, double rows, bool exact) {
  if (exact)
    loadKeys(work, z, rows);
  else
    work.move(rows, at.r);
  if (!exact && running())
    work.loadAlongColumns(rows), work.loadAlongRows(tiles * at.T);
  work.move(rows, z.dv, z.k);
  if (exact)
    takeKeys(work, shape, z, tiles, at.T, Operands::F32);
  takeValues(work, z, tiles, at.T, Operands::F32);
  work.reduceAlongRows(tiles * 2, at.T); // the largest logit and the sum of the weights
  work.multiply(tiles, at.T, at.T, exact ? z.d : at.r, Operands::F32);
  work.multiply(tiles, at.T, z.dv, at.T, Operands::F32);
}

/// Pairs inside the blocks: tile t of a block with the keys up to its last query. `tilesOfLast`: of the last block.
void SketchKernel::ownBlocks(double tilesOfLast) {
  double lastStart = (blocks() - 1) * at.block;
  for (double t = 0; t < tilesPerBlock(); ++t) {
    double whole = at.points * (blocks() - 1), rows = std::min((t + 1) * at.T, z.N - lastStart);
    multiplyPairs(whole * (t + 1), whole * (t + 1) * at.T, shape.localExact > 0);
    if (t < tilesOfLast)
      multiplyPairs(at.points * std::ceil(rows / at.T), at.points * rows, shape.localExact > 0);
  }
}

void SketchKernel::loadSlices(double times) {
  work.move(times * at.r * at.r, z.dv);
  work.loadAlongColumns(times * at.r * at.r);
  work.loadAlongRows(times * at.r);
  work.loadToRegisters(times * at.r, at.r, z.dv);
}

/// Every slice of the state, by tiles of queries with `rows` rows in all.
void SketchKernel::readState(double tiles, double rows) {
  work.move(rows, at.r);     // the sketches
  work.move(rows * at.r, 1); // and each column of them once more
  work.move(tiles * at.r * at.r, z.dv);
  work.loadAlongColumns(tiles * at.r * at.r);
  if (running())
    work.loadAlongRows(rows);
  work.loadToRegisters(tiles, at.T, at.r);
  // The largest entry of a sketch; for each slice the column, which a sum turns into a vector, and the sum of the
  // weights.
  work.reduceAlongRows(tiles * (1 + 2 * at.r), at.T);
  work.reduceAlongColumns(tiles * (running() ? 2 : 1), at.T); // units, one number for all rows
  work.multiply(tiles * at.r, at.T, z.dv, at.r, Operands::Exact);
}

/// Keys enter all slices `times` times, in `tiles` tiles with `rows` rows in all.
void SketchKernel::addToSlices(double times, double tiles, double rows) {
  loadSlices(times);
  clearState(times);
  work.move(at.r * rows, at.r);
  work.move(at.r * rows, 1);
  work.move(at.r * rows, z.dv, z.k);
  if (running())
    work.loadAlongRows(at.r * rows);
  double slices = tiles * at.r;
  work.loadToRegisters(slices, at.T, at.r);
  takeValues(work, z, slices, at.T, Operands::F32);
  work.reduceAlongRows(slices * 2, at.T);    // the column as a vector, the largest entry of each row
  work.reduceAlongRows(slices, 1);           // and of all
  work.reduceAlongColumns(slices, at.T);     // the unit, one number for all rows
  work.reduceAlongColumns(slices * 3, at.r); // the same for all columns, new and before; the sum
  work.multiply(slices, at.r, z.dv, at.T, Operands::Exact, /*narrow=*/z.k < 4);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static IssuedWork issuedUnit(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  IssuedWork work(z);
  loadKeys(work, z, at.points * z.N);
  loadTurns(work, z, at.points, shape.keyRope);
  double tiles = at.points * z.keyTiles;
  takeKeys(work, shape, z, tiles, z.Tk);
  work.reduceAlongRows(tiles * (shape.causal ? 2 : 1), z.Tk); // the norm, and the largest up to each key
  work.reduceAlongRows(tiles, 1);                             // the largest of all
  work.reduceAlongColumns(shape.causal ? tiles : 0, z.Tk);    // the largest before, one number for all rows
  work.storeVector(at.points * (shape.causal ? z.n + z.N : 1));
  return work;
}

/// S of `tokens` tokens, each `bytes` an element.
static IssuedWork issuedSketch(const AttentionShape &shape, const Sketches &at, const Sizes &z, bool queries) {
  double tokens = queries ? z.n : z.N, tiles = at.points * std::ceil(tokens / z.Tq), sides = 2 * (at.leaves - 1);
  IssuedWork work(z);
  queries ? loadQueries(work, z, at.points * tokens) : loadKeys(work, z, at.points * tokens);
  loadTurns(work, z, tiles, queries ? shape.queryRope : shape.keyRope);
  work.move(tiles * at.products / at.r, at.r);
  Operands operands = at.passes > 1 ? Operands::Exact : Operands::F32;
  work.multiply(tiles * at.passes * at.leaves, z.Tq, at.r, z.d, operands);
  work.multiply(tiles * at.passes * sides, z.Tq, at.r, at.r, operands);
  queries ? takeQueries(work, shape, z, tiles, z.Tq) : takeKeys(work, shape, z, tiles, z.Tq);
  // The length; the largest entry on each side of a product, where numbers are pairs.
  work.reduceAlongRows(tiles * (1 + (at.passes > 1 ? sides : 0)), z.Tq);
  work.move(at.points * tokens, at.r);
  work.storeRegisters(tiles, z.Tq, at.r);
  work.storeVector(queries ? at.points * tokens : 0);
  if (kernel::sketchNeedsUnit(shape.degree) && !shape.causal) {
    work.loadAlongRows(tiles);
    work.reduceAlongColumns(tiles, z.Tq);
  }
  return work;
}

static IssuedWork issuedSketchedPairs(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  SketchKernel kernel(shape, at, z);
  double tiles = at.points * kernel.blocks() * kernel.tilesPerBlock();
  kernel.startRows(at.points * z.n);
  kernel.work.move(at.points * z.n, at.r);
  kernel.work.loadToRegisters(tiles, at.T, at.r);
  if (shape.causal) {
    // The keys before its block for each tile, then the block's own.
    auto block = static_cast<int64_t>(at.block), T = static_cast<int64_t>(at.T);
    auto blocks = static_cast<int64_t>(kernel.blocks());
    double each = at.points * kernel.tilesPerBlock(), pairsOfBlocks = kernel.blocks() * (kernel.blocks() - 1) / 2;
    kernel.multiplyPairs(each * floorSum(blocks, T, block, T - 1), each * pairsOfBlocks * at.block, /*exact=*/false);
    if (shape.localExact) {
      kernel.loadExactQueries(at.points * z.n);
      kernel.takeExactQueries(tiles);
      loadTurns(kernel.work, z, tiles, hasRope(shape));
    }
    kernel.ownBlocks(kernel.tilesPerBlock());
  } else {
    kernel.multiplyPairs(tiles * at.keyTiles, tiles * z.N, /*exact=*/false);
  }
  storeOutput(kernel.work, shape, z, tiles, at.T);
  return kernel.work;
}

static IssuedWork issuedSketchedBlocks(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  SketchKernel kernel(shape, at, z);
  double last = std::ceil((z.n - (kernel.blocks() - 1) * at.block) / at.T);
  double tiles = at.points * ((kernel.blocks() - 1) * kernel.tilesPerBlock() + last);
  kernel.clearState(at.points);
  kernel.startRows(at.points * z.n);
  kernel.readState(tiles, at.points * z.n);
  if (shape.localExact) {
    kernel.loadExactQueries(at.points * z.n);
    kernel.takeExactQueries(tiles);
    loadTurns(kernel.work, z, at.points, hasRope(shape));
  }
  kernel.ownBlocks(last);
  kernel.addToSlices(at.points * kernel.blocks(), tiles, at.points * z.N);
  storeOutput(kernel.work, shape, z, tiles, at.T);
  return kernel.work;
}

/// `keys`: those that enter all slices at a time.
static IssuedWork issuedSketchPieces(const AttentionShape &shape, const Sketches &at, const Sizes &z,
                                     double keys = kernel::keysOfSketchBlock) {
  SketchKernel kernel(shape, at, z);
  double whole = std::floor(z.N / keys);
  double tiles = whole * std::ceil(keys / at.T) + std::ceil((z.N - whole * keys) / at.T);
  kernel.clearState(at.points * z.pieces);
  kernel.addToSlices(at.points * std::ceil(z.N / keys), at.points * tiles, at.points * z.N);
  return kernel.work;
}

/// `points` sums of as many states of pieces as z has, slice by slice: the matrices of all slices, a sum and a unit each.
static IssuedWork issuedSumOfPieces(const Sketches &at, const Sizes &z, double points) {
  IssuedWork merge = issuedMerge(z, points, at.r * at.r, z.dv, 1, 0, at.r);
  merge.reduceAlongColumns(points * z.pieces * at.r * 2, at.r); // the unit of either side, one number for all rows
  merge.loadAlongRows(points * z.pieces * at.r);
  merge.storeVector(points * at.r);
  return merge;
}

/// Parts of the sequence side by side: the states of the pieces before the last part; then blocks, of which each part begins
/// at the sum of the pieces before it and not at nothing.
static IssuedWorks issuedSplitBlocks(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  SplitSizes split(z, at.block);
  Sizes before = z, own = z;
  before.N = split.keys, before.pieces = split.pieces, own.pieces = split.merges / split.parts;
  IssuedWork blocks = issuedSketchedBlocks(shape, at, z), starts = issuedSumOfPieces(at, own, at.points * split.parts);
  SketchKernel nothing(shape, at, z);
  nothing.clearState(at.points);
  blocks.add(starts);
  blocks.add(nothing.work, -1);
  if (shape.localExact)
    loadTurns(blocks, z, at.points * (split.parts - 1), hasRope(shape));
  return {issuedSketchPieces(shape, at, before, at.block), blocks};
}

static IssuedWork issuedSketchReadout(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  SketchKernel kernel(shape, at, z);
  kernel.startRows(at.points * z.n);
  kernel.readState(at.points * at.queryTiles, at.points * z.n);
  storeOutput(kernel.work, shape, z, at.points * at.queryTiles, at.T);
  return kernel.work;
}

IssuedWorks cost::issuedPolysketch(const AttentionShape &shape, const Sizes &z) {
  Sketches at(shape, z);
  IssuedWorks kernels;
  if (kernel::sketchNeedsUnit(shape.degree))
    kernels.push_back(issuedUnit(shape, at, z));
  for (bool queries : {true, false})
    kernels.push_back(issuedSketch(shape, at, sizesOfSketch(shape, z), queries));
  if (shape.form == attn::Form::State) {
    kernels.push_back(issuedSketchPieces(shape, at, z));
    kernels.append({issuedSumOfPieces(at, z, at.points), issuedSketchReadout(shape, at, z)});
  } else if (shape.form == attn::Form::Chunked && shape.split) {
    kernels.append(issuedSplitBlocks(shape, at, z));
  } else {
    kernels.push_back(shape.form == attn::Form::Chunked ? issuedSketchedBlocks(shape, at, z)
                                                        : issuedSketchedPairs(shape, at, z));
  }
  return kernels;
}
