//===- AttnVerifyExact.cpp - Verifiers of exact attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttnVerify.h"
#include "attune/Attn/Execution.h"

using namespace mlir;
using namespace attune::attn;
using namespace attune::attn::checks;

/// Logits and who sees whom.
template <typename Op> static LogicalResult checkLogits(Op op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey());
  if (failed(checkPositive(op, "scale", op.getScale())) ||                                   // A4
      failed(checkWindow(op, op.getWindowAttr(), q[2], k[2])) ||                             // A20
      failed(checkLast(op, op.getLast(), op.getCausal(), op.getWindowAttr())))               // A62
    return failure();
  if (op.getSoftcap() && failed(checkPositive(op, "softcap", *op.getSoftcap()))) // A63
    return failure();
  return op.getSlopes() ? checkShape(op, "slopes", op.getSlopes().getType(), {q[1]}) : success(); // A64
}

LogicalResult SoftmaxOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery());
  if (failed(checkMechanism(*this)) || failed(checkLogits(*this))) // A1 … A4, A20, A62 … A64
    return failure();
  if ((getWindow() || getLast()) && executionOf(*this).split) // A53
    return emitOpError() << "expected no split of the keys of a window, whose blocks run side by side anyway";
  return getLse() ? checkShape(*this, "lse", getLse().getType(), {q[0], q[1], q[2]}) : success(); // A5
}

LogicalResult SoftmaxPartialOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), v = shapeOf(getValue());
  if (failed(checkTokens(*this, getQuery(), getKey(), getValue())) || failed(checkLengths(*this, getLengths(), q[0])) || // A1, A3
      failed(checkLogits(*this)))                                                                                       // A4, A20, A62 … A64
    return failure();
  auto piece = static_cast<int64_t>(getPiece()), pieces = static_cast<int64_t>(getPieces());
  if (piece < 0 || piece >= pieces) // A6
    return emitOpError() << "expected 0 <= piece < pieces, but got piece = " << piece << " of " << pieces;
  if (failed(checkShape(*this, "maximum", getMaximum().getType(), {q[0], q[1], q[2]})) ||
      failed(checkShape(*this, "sum", getSum().getType(), {q[0], q[1], q[2]}))) // A7
    return failure();
  return checkShape(*this, "accumulator", getAccumulator().getType(), {q[0], q[1], q[2], v[3]}); // A7
}

LogicalResult SoftmaxFinishOp::verify() {
  ArrayRef<int64_t> acc = shapeOf(getAccumulator());
  if (failed(checkShape(*this, "maximum", getMaximum().getType(), acc.drop_back()))) // A8
    return failure();
  return checkShape(*this, "output", getOutput().getType(), acc); // A8
}

LogicalResult SoftmaxWeightsOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), k = shapeOf(getKey());
  if (failed(checkTokens(*this, getQuery(), getKey(), getKey())) || failed(checkLengths(*this, getLengths(), q[0])) || // A1, A3
      failed(checkLogits(*this)))                                                                // A4, A20, A62 … A64
    return failure();
  if (failed(checkShape(*this, "lse", getLse().getType(), {q[0], q[1], q[2]}))) // A85
    return failure();
  return checkShape(*this, "result", getResult().getType(), {q[0], q[1], q[2], k[2]}); // A85
}
