//===- PowerWork.cpp - The work of polynomial attention and of sketches of it -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are carried as (t / M)^p with a running maximum M of |t|, as softmax carries its maximum.
//
//===----------------------------------------------------------------------===//
#include "SketchSizes.h"

#include "attune/Kernel/SketchRules.h"
#include "attune/Tile/WindowTiles.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

// Magnitude, row maximum, division by M, row sum, of each weight.
static constexpr double rescaledOps = 4;

KernelWorks cost::polynomialWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.points();
  WorkEstimate work;
  work.products = points * z.pairs * z.Tq * z.Tk * (z.d + z.dv);
  work.usefulProducts = points * z.visible * (z.d + z.dv); // §2: nN(d + dv), powers apart
  work.elementwise =
      points * (z.pairs * z.Tq * ((rescaledOps + powerOps(shape.degree)) * z.Tk + z.dv) +
                z.rows() * (z.d + z.dv + queryOps(shape) + outputOps(shape)) + z.pairs * z.Tk * keyOps(shape));
  work.mainBytes = z.tensorBytes();
  work.nearBytes = z.visitedBytes() + points * z.n * shape.taps * z.dv * z.k;
  work.liveBytes = 4 * (z.Tq * (z.d + z.dv) + z.Tk * (z.d + z.dv) + 2 * z.Tq * z.Tk);
  work.grain = points * z.blocks;
  return {{"polynomial", work}};
}

//===----------------------------------------------------------------------===//
// Polysketch
//===----------------------------------------------------------------------===//

Sketches::Sketches(const AttentionShape &shape, const Sizes &z)
    : points(z.batch * z.heads), r(shape.sketch), c(z.dv + 1), leaves(shape.degree / 2.0),
      // §8: p' d r at the leaves and 2 r² at each of p' − 1 nodes.
      products(leaves * z.d * r + (leaves - 1) * 2 * r * r), elementwise(3 * z.d + leaves * r),
      matrixBytes(4 * z.heads * products),
      passes(kernel::sketchHasPairs(shape.width, shape.degree / 2, shape.sketch) ? 2 : 1) {
  once = z.schedule.getTarget() == tile::TargetKind::CPU && shape.form != attn::Form::Quadratic;
  features = once ? r * (r + 1) / 2 : z.m;
  stateBytes = once ? 4 * (features * z.dv + r * r) : z.stateBytes();
  if (passes > 1) // leading digits and rest, sums and products of pairs: some 20 a number
    elementwise += 20 * (z.d + (3 * leaves - 2) * r);
  int64_t rows = shape.localExact ? tile::windowTile(shape.localExact, z.Tq) : z.Tq;
  T = rows, block = shape.localExact ? shape.localExact : rows;
  queryTiles = std::ceil(z.n / T), keyTiles = std::ceil(z.N / T);
  pairs = visibleTiles(z.n, z.N, shape.causal, rows, rows);
  double blocks = std::ceil(z.n / block), side = std::ceil(block / T);
  exactTiles = shape.localExact ? blocks * side * (side + 1) / 2 : 0;
  exactPairs = shape.localExact ? z.n * (block + 1) / 2 : 0;
}

Sizes cost::sizesOfSketch(const AttentionShape &shape, const Sizes &z) {
  Sizes sizes = z;
  sizes.schedule = kernel::sketchSchedule(z.schedule, shape.width, shape.sketch);
  if (sizes.schedule != z.schedule)
    sizes.Tq = sizes.schedule.getQueryTile();
  return sizes;
}

/// S of `tokens` tokens of every query head, into a workspace.
static WorkEstimate sketchWork(const Sketches &at, const Sizes &z, double tokens, double bytes, double steps) {
  double rows = std::ceil(tokens / z.Tq) * z.Tq;
  WorkEstimate work;
  // Transposed by a product with the identity, where the state reads columns.
  work.products = at.points * rows * (at.products * at.passes + (at.once ? at.r * at.r : 0));
  work.usefulProducts = at.points * tokens * at.products;
  work.elementwise = at.points * rows * (at.elementwise + steps);
  work.workspaceBytes = at.points * tokens * 4 * ((at.once ? 2.5 : 1) * at.r + 1); // once more, half, and the columns
  work.mainBytes = at.points * tokens * z.d * bytes + work.workspaceBytes + at.matrixBytes;
  work.nearBytes = at.points * (tokens * z.d * bytes + rows / z.Tq * 4 * at.products) + work.workspaceBytes;
  work.liveBytes = 4 * (z.Tq * (z.d + 2 * at.leaves * at.r) + at.products);
  work.grain = at.points * rows / z.Tq;
  return work;
}

/// Pairs of a block's queries with keys, `tiles` of them a head; exact ones have d-wide products and the whole power.
static WorkEstimate pairsOfTiles(const AttentionShape &shape, const Sketches &at, const Sizes &z, double tiles) {
  double area = at.T * at.T;
  WorkEstimate work;
  work.products = at.points * area * (tiles * (at.r + z.dv) + at.exactTiles * (z.d - at.r));
  // A square more, and the rest of the power inside the blocks.
  work.elementwise = at.points * (tiles * (area * (rescaledOps + 1) + at.T * z.dv) +
                                  at.exactTiles * area * powerOps(shape.degree / 2) + z.n * 2 * z.dv);
  work.nearBytes = at.points * (z.n * (4 * at.r + z.dv * z.o) + tiles * at.T * (4 * at.r + z.dv * z.k));
  return work;
}

static WorkEstimate sketchedPairs(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  WorkEstimate work = pairsOfTiles(shape, at, z, at.pairs);
  // §8: nN(r + c) of the pairs that see each other, d in place of r inside the blocks.
  work.usefulProducts = at.points * (z.visible * (at.r + at.c) + at.exactPairs * (z.d - at.r));
  work.elementwise += at.points * z.n * outputOps(shape);
  work.mainBytes = z.tensorBytes() + at.points * (z.n + z.N) * 4 * at.r;
  work.liveBytes = 4 * (at.T * (2 * at.r + 3 * z.dv) + 2 * at.T * at.T);
  work.grain = at.points * at.queryTiles;
  return work;
}

/// All keys into the slices of the state. `loads`: how often a slice is read and written, where all products are there.
static WorkEstimate slicesWork(const Sketches &at, const Sizes &z, double loads) {
  double rows = at.keyTiles * at.T;
  WorkEstimate work;
  work.usefulProducts = at.points * z.N * at.features * at.c; // §4: N m c with m = r², or those that differ
  work.nearBytes = at.points * at.r * z.N * (4 * (at.r + 1) + z.dv * z.k);
  if (at.once) {
    // The sum of weights from all r² products; a tile enters all slices. Three products a feature, the maximum.
    work.products = at.points * rows * (at.features * z.dv + at.r * at.r);
    work.elementwise = at.points * rows * (3 * at.features + 4 * at.r);
    work.nearBytes = at.points * (at.r * z.N * (2 * at.r + 4 + 4 * z.dv) + 2 * at.keyTiles * at.stateBytes);
    work.liveBytes = 4 * (at.T * (2 * at.r + z.dv) + at.r / 2 * z.dv);
    return work;
  }
  work.products = at.points * rows * z.m * z.dv;
  // The magnitudes and their maximum, two products, the sum; the slice rescaled once a tile.
  work.elementwise = at.points * z.m * (rows * 5 + at.keyTiles * at.c);
  work.nearBytes += at.points * 2 * loads * z.stateBytes();
  work.liveBytes = 4 * (at.T * (3 * at.r + z.dv) + at.r * at.c);
  return work;
}

/// The states of pieces of the keys.
static WorkEstimate piecesWork(const Sketches &at, const Sizes &z) {
  WorkEstimate work = slicesWork(at, z, std::ceil(z.N / kernel::keysOfSketchBlock));
  work.workspaceBytes = at.points * z.pieces * at.stateBytes;
  work.mainBytes = at.points * z.N * (4 * at.r + z.dv * z.k) + work.workspaceBytes;
  work.grain = at.points * z.pieces;
  return work;
}

/// Slice by slice.
static WorkEstimate mergePiecesWork(const Sketches &at, const Sizes &z) {
  WorkEstimate work = mergeWork(at.points, z.pieces, at.stateBytes / 4);
  work.elementwise *= 4; // both sides are rescaled, then added
  work.liveBytes /= at.r;
  work.grain = at.points * at.r;
  return work;
}

/// Reading the state by one tile of queries after the other: r² features of a query, slice by slice.
static WorkEstimate readsWork(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  double rows = at.queryTiles * at.T;
  WorkEstimate work;
  work.products = at.points * rows * (at.features * z.dv + (at.once ? at.r * at.r : 0));
  work.usefulProducts = at.points * z.n * at.features * at.c; // §4: n m c
  work.elementwise = at.points * rows * (3 * at.features + (at.once ? 4 * at.r : 0) + 2 * z.dv + outputOps(shape));
  work.mainBytes = at.points * (z.n * (4 * at.r + z.dv * z.o) + at.stateBytes);
  work.nearBytes = at.points * (z.n * (4 * at.r + z.dv * z.o) + at.queryTiles * at.stateBytes);
  work.liveBytes = 4 * at.T * (3 * at.r + z.dv) + at.stateBytes;
  work.grain = at.points * at.queryTiles;
  return work;
}

/// Block after block: reads, pairs with the block's own keys, then its keys enter the state.
static WorkEstimate sketchedBlocks(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  double blocks = std::ceil(z.n / at.block), side = std::ceil(at.block / at.T);
  WorkEstimate work = pairsOfTiles(shape, at, z, blocks * side * (side + 1) / 2);
  WorkEstimate reads = readsWork(shape, at, z), slices = slicesWork(at, z, blocks);
  work += reads, work += slices;
  // §8: n [(b + 1) / 2 (r + c) + 2 r² c], d in place of r where the pairs are exact.
  double width = shape.localExact ? z.d : at.r;
  work.usefulProducts = at.points * z.n * ((at.block + 1) / 2 * (width + at.c) + 2 * at.features * at.c);
  work.workspaceBytes = at.points * at.stateBytes;
  work.mainBytes = z.tensorBytes() + at.points * (z.n + z.N) * 4 * at.r;
  work.liveBytes = 4 * (at.T * (4 * at.r + 3 * z.dv) + 2 * at.T * at.T) + at.stateBytes;
  work.grain = at.points;
  work.launches = 1;
  return work;
}

/// Norms of the keys and the largest of them; causal: of those up to each query.
static WorkEstimate unitWork(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  WorkEstimate work;
  work.elementwise = at.points * z.N * (2 * z.d + keyOps(shape) + (shape.causal ? z.Tk : 1));
  work.workspaceBytes = at.points * 4 * (shape.causal ? 2 * z.N : 1);
  work.mainBytes = z.batch * z.shared * z.N * z.d * z.k + work.workspaceBytes;
  work.nearBytes = at.points * z.N * z.d * z.k + work.workspaceBytes;
  work.liveBytes = 4 * z.Tk * (z.d + (shape.causal ? z.Tk : 1));
  work.grain = at.points;
  return work;
}

/// Parts of the sequence side by side: the states of the pieces before the last part, then blocks that begin at sums of them.
static KernelWorks splitBlocks(const AttentionShape &shape, const Sketches &at, const Sizes &z) {
  SplitSizes split(z, at.block);
  Sizes sizes = z;
  Sketches before = at;
  sizes.N = split.keys, sizes.pieces = split.pieces, before.keyTiles = std::ceil(split.keys / at.T);
  WorkEstimate pieces = piecesWork(before, sizes), blocks = sketchedBlocks(shape, at, z);
  pieces.usefulProducts = 0;
  double merged = at.points * split.merges * at.stateBytes;
  blocks.elementwise += merged; // both sides of each number of 4 bytes are rescaled, then added
  blocks.nearBytes += merged;
  blocks.workspaceBytes *= split.parts, blocks.grain *= split.parts;
  return {{"pieces", pieces}, {"chunked", blocks}};
}

KernelWorks cost::polysketchWork(const AttentionShape &shape, const Sizes &z) {
  Sketches at(shape, z);
  KernelWorks kernels;
  if (kernel::sketchNeedsUnit(shape.degree))
    kernels.push_back({shape.causal ? "running" : "largest", unitWork(shape, at, z)});
  Sizes own = sizesOfSketch(shape, z);
  kernels.append({{"sketch", sketchWork(at, own, z.n, z.q, queryOps(shape))},
                  {"sketch", sketchWork(at, own, z.N, z.k, keyOps(shape))}});
  if (shape.form == attn::Form::State)
    kernels.append({{"pieces", piecesWork(at, z)},
                    {"merge", mergePiecesWork(at, z)},
                    {"readout", readsWork(shape, at, z)}});
  else if (shape.form == attn::Form::Chunked && shape.split)
    kernels.append(splitBlocks(shape, at, z));
  else if (shape.form == attn::Form::Chunked)
    kernels.push_back({"chunked", sketchedBlocks(shape, at, z)});
  else
    kernels.push_back({"polysketch", sketchedPairs(shape, at, z)});
  return kernels;
}
