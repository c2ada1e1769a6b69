//===- EvalFolded.cpp - Features of folded projections -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// φ from x (W ωᵀ) + ω β, in the order in which it is written: the other side of what attn.map of attn.project means.
//
//===----------------------------------------------------------------------===//
#include "AttnFrame.h"
#include "Matrix.h"
#include "attune/Attn/Folded.h"
#include "attune/Reference/FeatureMap.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

namespace {
/// P = W ωᵀ and c = ω β of one head of the features.
struct FoldedHead {
  Matrix matrix;             ///< [D, m]
  std::vector<double> shift; ///< [m]

  FoldedHead(const Array &weight, const std::optional<Array> &bias, const Matrix &omega, int64_t first)
      : matrix(weight.size(0), omega.height()), shift(omega.height(), 0.0) {
    for (int64_t f = 0; f < omega.height(); ++f)
      for (int64_t c = 0; c < omega.width(); ++c) {
        for (int64_t i = 0; i < weight.size(0); ++i)
          matrix[i][f] += weight({i, first + c}) * omega[f][c];
        shift[f] += bias ? (*bias)({first + c}) * omega[f][c] : 0;
      }
  }

  /// x P + c of token `row`.
  std::vector<double> operator()(const Array &x, int64_t batch, int64_t row) const {
    std::vector<double> sums = shift;
    for (int64_t i = 0; i < x.size(2); ++i)
      addScaled(x({batch, row, i}), matrix[i], matrix.width(), sums.data());
    return sums;
  }
};
} // namespace

bool attune::reference::readsFolded(attn::MapOp op) {
  return attn::isFolded(op.getSource()) && op.getParameter() &&
         attn::whyNotThroughOmega(op.getFeatureMap(), op.getKeys(), /*cancels=*/false).empty();
}

LogicalResult attune::reference::evalFoldedMap(AttnFrame &frame, attn::MapOp op) {
  auto project = op.getSource().getDefiningOp<attn::ProjectOp>();
  AttnValue value = frame.rowsFor(op.getResult(), project.getSource(), 1);
  const Array &x = value.array, &weight = frame[project.getWeight()], &omega = frame[op.getParameter()];
  std::optional<Array> bias = frame.optional(project.getBias());
  auto tokens = cast<RankedTensorType>(project.getResult().getType()), result = op.getResult().getType();
  int64_t shared = tokens.getDimSize(1), width = tokens.getDimSize(3), heads = result.getDimSize(1);
  FeatureMap map = FeatureMap::of(op.getFeatureMap());
  FailureOr<std::vector<int64_t>> lengths =
      readLengths(frame, op, op.getLengths(), x.size(0), AttnFrame::tokensOf(value, 1));
  if (failed(lengths) || failed(check(op, map.problem(&omega, heads, width))) ||
      failed(expectShape(project, "weight", weight, {x.size(2), shared * width})))
    return failure();
  std::vector<int64_t> rows = frame.rowsOf(value, 1);
  Array features({x.size(0), heads, x.size(1), map.featuresOf(width)});
  for (int64_t h = 0; h < heads; ++h) {
    FoldedHead folded(weight, bias, parameterOf(omega, h), h * shared / heads * width);
    HeadMap own(map, &omega, h, width);
    for (int64_t b = 0; b < x.size(0); ++b)
      for (int64_t r = 0; r < x.size(1); ++r)
        if (rows[r] < (*lengths)[b])
          own.applyToProjections(folded(x, b, r).data(), features.at({b, h, r, 0}));
  }
  frame.set(op.getResult(), std::move(features), value.queries);
  return success();
}
