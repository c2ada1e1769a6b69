//===- SketchRegion.h - Sketches of tokens -*- C++ -*- ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_SKETCHREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_SKETCHREGION_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

/// Lengths below it are as good as 0: a null token has no direction, and any unit will do.
inline constexpr double leastLength = 0x1p-120;

/// The dense matrices of a tree of SRHTs, one a head: what `prepare` makes of signs and indices.
struct SketchMatrices {
  llvm::SmallVector<mlir::Value> leaves; ///< [H, d, r] each: (D H)[:, index], of ±1
  llvm::SmallVector<mlir::Value> nodes;  ///< [H, r, r] each: sides a and b of node after node

  int64_t degree() const { return leaves.size(); }
  /// Whether the tree computes with sums of two f32.
  bool hasPairs() const;
};

/// matrix [H, rows, r] of sign [H, ≥ rows] and index [H, r].
fusion::KernelRegion signMatrixRegion(const Problem &problem, mlir::Value sign, mlir::Value index, mlir::Value matrix);

/// What lengths of keys are relative to, as their powers p' leave the range of f32: K, the largest of a head, or of causal
/// queries M_i, the largest of the keys that query i sees. Sketches of keys are in the unit K^p'; beside M_i they are those of
/// directions, and each key's length stands apart.
struct KeyUnit {
  mlir::Value largest; ///< K [batch, H]; null: 1, or M_i
  mlir::Value running; ///< M_i [batch, H, n]; null: none
  mlir::Value lengths; ///< |k_j| beside M_i [batch, H, N], 0 of keys that do not exist
};

/// K of problem.key into `unit.largest`.
fusion::KernelRegion largestKeyRegion(const Problem &problem, const KeyUnit &unit);
/// M_i and |k_j| of problem.key into `unit`, which has as many queries as keys. `before`: the unit of the keys before them [1], which is kept
/// behind the last M_i; null: there are none.
fusion::KernelRegion runningUnitRegion(const Problem &problem, const SketchMatrices &matrices, const KeyUnit &unit, fusion::Source before);

/// Sketched tokens: S(x / |x|) · |x / K|^p' or, of queries, S(x / |x|) alone with |scale K x| beside it.
struct Sketched {
  Tokens tokens;        ///< [batch, H, tokens, r or more]
  mlir::Value lengths;  ///< [batch, H, tokens]: what queries lack, before its power; null of keys
  mlir::Value columns;  ///< [batch, H, tiles, r, rows] or null. If there, r/2 entries of a row stand again behind its last
  BlockTiles grid{0, 0}; ///< of grid points and of columns
};

/// `tokens`, times `scale`, sketched into `result`.
fusion::KernelRegion sketchRegion(const Problem &problem, const Tokens &tokens, const SketchMatrices &matrices, double scale,
                                  const KeyUnit &unit, const Sketched &result);

/// x̄ of S(scale · x) from its cotangent [batch, H, tokens, r], into `result` [batch, H, tokens, d]; 0 where that is 0, whatever x is.
fusion::KernelRegion sketchGradientRegion(const Problem &problem, const Tokens &tokens, const Tokens &cotangent, const SketchMatrices &matrices,
                                          double scale, const Tokens &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_SKETCHREGION_H
