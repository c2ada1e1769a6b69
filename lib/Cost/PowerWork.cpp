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
#include "WorkSizes.h"

using namespace attune;
using namespace attune::cost;

// Magnitude, row maximum, division by M, row sum, of each weight.
static constexpr double rescaledOps = 4;

KernelWorks cost::polynomialWork(const AttentionShape &shape, const Sizes &z) {
  double points = z.points();
  WorkEstimate work;
  work.products = points * z.pairs * z.Tq * z.Tk * (z.d + z.dv);
  work.usefulProducts = points * z.visible * (z.d + z.dv); // §2: nN(d + dv), powers apart
  work.elementwise = points * (z.pairs * z.Tq * ((rescaledOps + powerOps(shape.degree)) * z.Tk + z.dv) +
                               z.rows() * (z.d + z.dv + queryOps(shape) + outputOps(shape)) +
                               z.pairs * z.Tk * keyOps(shape));
  work.mainBytes = z.tensorBytes();
  work.nearBytes = z.visitedBytes() + points * z.n * shape.taps * z.dv * z.k;
  work.liveBytes = 4 * (z.Tq * (z.d + z.dv) + z.Tk * (z.d + z.dv) + 2 * z.Tq * z.Tk);
  work.grain = points * z.blocks;
  return {{"polynomial", work}};
}

//===----------------------------------------------------------------------===//
// Polysketch
//===----------------------------------------------------------------------===//

namespace {
/// A sketch of one token, with dense matrices that `prepare` makes: p' leaves of d×r, p' − 1 nodes of two r×r (§8).
struct SketchCost {
  SketchCost(const AttentionShape &shape, const Sizes &z)
      : r(shape.sketch), leaves(shape.degree / 2.0), products(leaves * z.d * r + (leaves - 1) * 2 * r * r),
        elementwise((leaves - 1) * r), matrixBytes(4 * z.heads * products) {}

  double r, leaves, products, elementwise, matrixBytes;
};
} // namespace

static WorkEstimate sketchedPairs(const AttentionShape &shape, const Sizes &z, const SketchCost &sketch) {
  double points = z.points(), r = sketch.r, b = shape.localExact;
  // Tiles on the diagonal that have exact weights as well.
  double exact = b > 0 ? z.blocks * std::max(1.0, std::min(z.n, b) / z.Tk) : 0;
  WorkEstimate work;
  work.products = points * (z.pairs * z.Tq * z.Tk * (r + z.dv) + exact * z.Tq * z.Tk * z.d +
                            (z.pairs * z.Tk + z.rows()) * sketch.products);
  // §8: nN(r + c) of the visible pairs, d in place of r inside the exact blocks; every row sketched once.
  double inside = b > 0 ? z.n * (b + 1) / 2 : 0;
  work.usefulProducts = points * ((z.visible - inside) * (r + z.dv + 1) + inside * (z.d + z.dv + 1) +
                                  (z.n + z.N) * sketch.products);
  work.elementwise = points * (z.pairs * z.Tq * ((rescaledOps + 1) * z.Tk + z.dv) +
                               exact * z.Tq * z.Tk * (1 + powerOps(shape.degree)) +
                               (z.pairs * z.Tk + z.rows()) * sketch.elementwise +
                               z.rows() * (z.dv + queryOps(shape) + outputOps(shape)) + z.pairs * z.Tk * keyOps(shape));
  work.mainBytes = z.tensorBytes() + sketch.matrixBytes;
  work.nearBytes = z.visitedBytes();
  work.liveBytes = 4 * (z.Tq * (z.d + r + z.dv) + z.Tk * (z.d + r + z.dv) + 2 * z.Tq * z.Tk) + 4 * sketch.products;
  work.grain = points * z.blocks;
  return work;
}

/// The states of the pieces: r² features of each key, from its sketch.
static WorkEstimate sketchedState(const AttentionShape &shape, const Sizes &z, const SketchCost &sketch) {
  double points = z.batch * z.heads;
  WorkEstimate work;
  work.products = points * z.keyRows() * (z.m * z.dv + sketch.products);
  work.usefulProducts = points * z.N * (z.m * (z.dv + 1) + sketch.products); // §4: N m c with m = r²
  work.elementwise = points * z.keyRows() * (2 * z.m + sketch.elementwise + keyOps(shape)); // x ⊗ x, its sum
  work.mainBytes = points * (z.k * z.N * (z.d + z.dv) + z.pieces * z.stateBytes()) + sketch.matrixBytes;
  work.nearBytes = work.mainBytes;
  work.liveBytes = 4 * z.Tk * (z.d + sketch.r + z.m + z.dv) + z.stateBytes();
  work.workspaceBytes = points * z.pieces * z.stateBytes();
  work.grain = points * z.pieces;
  return work;
}

static WorkEstimate sketchedReadout(const AttentionShape &shape, const Sizes &z, const SketchCost &sketch) {
  double points = z.points();
  WorkEstimate work;
  work.products = points * z.rows() * (z.m * z.dv + sketch.products);
  work.usefulProducts = points * z.n * (z.m * (z.dv + 1) + sketch.products); // §4: n m c
  work.elementwise =
      points * z.rows() * (3 * z.m + z.dv + sketch.elementwise + queryOps(shape) + outputOps(shape));
  work.mainBytes = points * (z.n * (z.d * z.q + z.dv * z.o) + z.stateBytes()) + sketch.matrixBytes;
  work.nearBytes = points * (z.n * (z.d * z.q + z.dv * z.o) + z.blocks * z.stateBytes());
  work.liveBytes = 4 * z.Tq * (z.d + sketch.r + z.m + z.dv) + z.stateBytes();
  work.grain = points * z.blocks;
  return work;
}

/// One loop over chunks a head: r-wide products inside a chunk, r² features for the state alone.
static WorkEstimate sketchedChunks(const AttentionShape &shape, const Sizes &z, const SketchCost &sketch) {
  double points = z.batch * z.heads, T = z.Tk, rows = z.keyRows(), r = sketch.r, c = z.dv + 1;
  double b = shape.localExact, exactWidth = b > 0 ? std::min(b, T) : 0;
  WorkEstimate work;
  work.products = points * rows * (T * (r + z.dv) + exactWidth * z.d + 2 * z.m * z.dv + 2 * sketch.products);
  // §8: n [b (r + c) / 2 + 2 r² c] and the sketches.
  work.usefulProducts = points * z.n * ((T + 1) / 2 * (r + c) + 2 * z.m * c + 2 * sketch.products);
  work.elementwise = points * rows * (2 * 3 * z.m + 3 * T + exactWidth * powerOps(shape.degree) + 2 * z.dv +
                                      2 * sketch.elementwise + queryOps(shape) + keyOps(shape) + outputOps(shape));
  work.mainBytes = z.tensorBytes() + sketch.matrixBytes;
  work.nearBytes = points * z.n * (z.d * z.q + z.dv * z.o + (z.d + z.dv) * z.k);
  work.liveBytes = 4 * (T * (2 * z.d + 2 * r + 2 * z.m + 3 * z.dv) + 2 * T * T) + z.stateBytes() + 4 * sketch.products;
  work.grain = points;
  return work;
}

KernelWorks cost::polysketchWork(const AttentionShape &shape, const Sizes &z) {
  SketchCost sketch(shape, z);
  switch (shape.form) {
  case attn::Form::State:
    return {{"state", sketchedState(shape, z, sketch)},
            {"merge", mergeWork(z.batch * z.heads, z.pieces, z.m * (z.dv + 1))},
            {"readout", sketchedReadout(shape, z, sketch)}};
  case attn::Form::Chunked:
    return {{"chunked", sketchedChunks(shape, z, sketch)}};
  default:
    return {{"quadratic", sketchedPairs(shape, z, sketch)}};
  }
}
