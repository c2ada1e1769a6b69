//===- Sketch.h - Sketches of tokens -*- C++ -*-------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCH_H
#define ATTUNE_LIB_KERNEL_SKETCH_H

#include "BlockTiles.h"
#include "Families.h"

namespace attune::kernel {

/// The dense matrices of a tree of SRHTs, one a head: what `prepare` makes of signs and indices.
struct SketchMatrices {
  llvm::SmallVector<mlir::Value> leaves; ///< [H, d, r] each: (D H)[:, index], of ±1
  llvm::SmallVector<mlir::Value> nodes;  ///< [H, r, r] each: sides a and b of node after node
};

/// Kernels of `prepare` that make one matrix [H, rows, r] from sign [H, ≥ rows] and index [H, r].
void buildSketchMatrix(BuildSite &site, const Problem &problem, mlir::Value sign, mlir::Value index,
                       mlir::Value matrix);

/// Sketched tokens: S(x / |x|) · |x / K|^p' or, of queries, S(x / |x|) alone with |scale K x| beside it. K is the
/// largest |k| of a head, or 1.
struct Sketched {
  Tokens tokens;        ///< [batch, H, tokens, r or more]
  mlir::Value lengths;  ///< [batch, H, tokens]: what the tokens lack, before its power; null for keys
  mlir::Value largest;  ///< K [batch, H]; null: 1
  mlir::Value columns;  ///< [batch, H, tiles, r, rows] or null. If there, r/2 entries of a row stand again behind its last
  BlockTiles grid{0, 0}; ///< of grid points and of columns
  bool running = false; ///< the unit is a running one (SketchUnit.h): keys without their length, queries with |scale x|
};

/// K of problem.key for a problem of so many heads.
mlir::Value buildLargestNorm(BuildSite &site, const Problem &problem);

/// K of this grid point as [rows].
mlir::Value largestNorm(TileBuilder &tiles, mlir::Value largest, const Point &point, int64_t rows);

/// problem.query sketched into `result`; the number of leaves is p'. `scale` multiplies x.
void buildSketch(BuildSite &site, const Problem &problem, const SketchMatrices &matrices, double scale,
                 const Sketched &result);

/// What attn.polysketch needs beside q, k and v.
struct PolysketchOptions {
  int64_t degree, size;
  std::optional<int64_t> localExact;
  double scale;
  attn::DenominatorAttr guard;
  SketchMatrices matrices;
  llvm::StringRef form; ///< quadratic, state or chunked
};

void buildPolysketch(BuildSite &site, const Problem &problem, const PolysketchOptions &options);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCH_H
