//===- AttnVerifyFeaturePairs.cpp - Verifiers of attention over features -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

/// Features, values, numbers of rows, and who sees whom.
template <typename Op> static LogicalResult checkFeatures(Op op) {
  ArrayRef<int64_t> a = shapeOf(op.getQuery()), b = shapeOf(op.getKey()), v = shapeOf(op.getValue());
  if (failed(checkShape(op, "key", op.getKey().getType(), {a[0], b[1], b[2], a[3]})) || failed(checkHeads(op, a[1], b[1])) || // A105, A9
      failed(checkShape(op, "value", op.getValue().getType(), {b[0], v[1], b[2], v[3]})) || failed(checkHeads(op, b[1], v[1])) || // A105, A18
      failed(checkShape(op, "lse", op.getLse().getType(), ArrayRef(a).drop_back())) ||                             // A105
      failed(checkLengths(op, op.getLengths(), a[0])) || failed(checkWindow(op, op.getWindowAttr(), a[2], b[2])))   // A3, A20
    return failure();
  return op.getCausal() ? checkCausal(op, a[2], b[2]) : success(); // A105
}

template <typename Op> static LogicalResult checkCotangents(Op op) {
  ArrayRef<int64_t> a = shapeOf(op.getQuery()), v = shapeOf(op.getValue());
  if (failed(checkFeatures(op)) || failed(checkShape(op, "cotangent", op.getCotangent().getType(), {a[0], a[1], a[2], v[3]})))
    return failure();
  return checkShape(op, "sums", op.getSums().getType(), ArrayRef(a).drop_back()); // A105
}

LogicalResult FeatureAttentionOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getQuery()), v = shapeOf(getValue());
  if (failed(checkFeatures(*this)))
    return failure();
  return checkShape(*this, "output", getOutput().getType(), {a[0], a[1], a[2], v[3]}); // A105
}

LogicalResult FeatureQueryGradientOp::verify() {
  if (failed(checkCotangents(*this)))
    return failure();
  return checkShape(*this, "result", getResult().getType(), shapeOf(getQuery())); // A105
}

LogicalResult FeatureKeyGradientsOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getQuery()), b = shapeOf(getKey()), v = shapeOf(getValue());
  if (failed(checkCotangents(*this)) || failed(checkShape(*this, "features", getFeatures().getType(), {a[0], a[1], b[2], b[3]}))) // A105
    return failure();
  return checkShape(*this, "values", getValues().getType(), {a[0], a[1], b[2], v[3]}); // A105
}
