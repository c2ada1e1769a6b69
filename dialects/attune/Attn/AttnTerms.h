//===- AttnTerms.h - Building terms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decompositions share. They say what a mechanism means, not how it is best computed: the laws of lib/Graph
// find the other forms.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTNTERMS_H
#define ATTUNE_ATTN_ATTNTERMS_H

#include "AttnVerify.h"

namespace attune::attn::terms {
using checks::shapeOf;

inline mlir::RankedTensorType f32Of(mlir::OpBuilder &builder, llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, builder.getF32Type());
}

/// weights[b, h, i, j] = ⟨a_i, b_j⟩ of rows [batch, H, n, width] and [batch, G, N, width].
mlir::Value buildWeights(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows, mlir::Value columns);

/// (scale · ⟨a_i, b_j⟩)^degree of such rows.
mlir::Value buildPower(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows, mlir::Value columns, int64_t degree, mlir::FloatAttr scale);

/// Which keys a query sees, as ops say it; of each attribute null: no such limit.
struct Sight {
  mlir::Value lengths = {};
  mlir::UnitAttr causal = {};
  WindowAttr window = {};
  mlir::IntegerAttr last = {};
};

/// Clears what the masks hide; the weights themselves if there is no mask.
mlir::Value buildVisible(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weights, const Sight &sight);

/// max_j |w_ij|^(1/root) over the columns that a row sees.
mlir::Value buildUnit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weights, const Sight &sight, int64_t root = 1);

/// a_i / u_i, or a_i / max(1, u_i / least).
mlir::Value buildDivided(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows, mlir::Value unit, double least = 0);

/// a_i / max_j |⟨a_i, b_j⟩| over the columns that it sees. Powers of its products are at most 1, and a quotient of sums of them is that of any multiple of
/// a_i. With a power of two `least` a_i / max(1, max_j |⟨a_i, b_j⟩| / least): only rows of larger products are others.
mlir::Value buildInUnits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows, mlir::Value columns, const Sight &sight, double least = 0);

/// A power of two: where a row has a product of that size, whose weight is the `degree`-th power of `scale` times it, a guard is lost in the rounding of the
/// sum of weights, so that larger ones may stand in units. 0: nothing holds the divisor back.
double leastUnit(DenominatorAttr guard, double degree, double scale);

/// W V / W 1 under the guard, or W V if that is `none`, in the type of the output.
mlir::Value buildNormalized(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weights, mlir::Value value,
                            DenominatorAttr guard, mlir::Type output);

/// How logits are made of products of queries and keys, as `attn.softmax` says it.
struct Logits {
  mlir::FloatAttr scale, softcap = {};
  mlir::Value slopes = {};
};

/// softmax(logits) V by its partial results: the finish has the output, of that type, and the lse.
SoftmaxFinishOp buildSoftmax(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange queryKeyValue, const Sight &sight,
                             const Logits &logits, mlir::Type output);
} // namespace attune::attn::terms

#endif // ATTUNE_ATTN_ATTNTERMS_H
