//===- EvalCompressFirst.cpp - Slots of the input, projected -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// (E x) W + (E 1) βᵀ, in the order in which it is written: the other side of what attn.compress of attn.project means.
//
//===----------------------------------------------------------------------===//
#include "AttnFrame.h"
#include "Matrix.h"

using namespace mlir;
using namespace attune;
using namespace attune::reference;

/// Row `slot` of E x over the tokens that exist, and after it the sum of the row of E: [D + 1].
static std::vector<double> slotOf(const Array &x, int64_t batch, int64_t tokens, const double *weights) {
  int64_t width = x.size(2);
  std::vector<double> slot(width + 1, 0.0);
  for (int64_t j = 0; j < tokens; ++j) {
    for (int64_t c = 0; c < width; ++c)
      slot[c] += weights[j] * x({batch, j, c});
    slot[width] += weights[j];
  }
  return slot;
}

/// The slot times one head's columns of W, which begin at `first`, plus its sum times their bias.
static void projectSlot(const std::vector<double> &slot, const Array &weight, const std::optional<Array> &bias,
                        int64_t first, int64_t width, double *result) {
  auto inner = static_cast<int64_t>(slot.size()) - 1;
  for (int64_t c = 0; c < width; ++c) {
    double sum = bias ? slot[inner] * (*bias)({first + c}) : 0;
    for (int64_t i = 0; i < inner; ++i)
      sum += slot[i] * weight({i, first + c});
    result[c] = sum;
  }
}

LogicalResult attune::reference::evalCompressFirst(AttnFrame &frame, attn::CompressOp op, attn::ProjectOp project) {
  const Array &x = frame[project.getSource()], &e = frame[op.getWeight()], &weight = frame[project.getWeight()];
  std::optional<Array> bias = frame.optional(project.getBias());
  ArrayRef<int64_t> type = cast<RankedTensorType>(op.getResult().getType()).getShape();
  int64_t batch = x.size(0), heads = type[1], width = type[3];
  FailureOr<std::vector<int64_t>> lengths = readLengths(frame, op, op.getLengths(), batch, x.size(1));
  if (failed(lengths) || failed(expectShape(op, "weight", e, {e.size(0), e.size(1), x.size(1)})))
    return failure();
  Array result({batch, heads, e.size(1), width});
  for (int64_t own = 0; own < e.size(0); ++own) {
    Matrix rows = parameterOf(e, own);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t s = 0; s < e.size(1); ++s) {
        std::vector<double> slot = slotOf(x, b, (*lengths)[b], rows[s]);
        for (int64_t g = own * heads / e.size(0); g < (own + 1) * heads / e.size(0); ++g)
          projectSlot(slot, weight, bias, g * width, width, result.at({b, g, s, 0}));
      }
  }
  frame.set(op.getResult(), std::move(result));
  return success();
}
