//===- AttnVerifyBlocked.cpp - Verifiers of EFFATT, EVA, agents and their terms -*- C++ -*-===//
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

LogicalResult EffattOp::verify() {
  if (failed(checkMechanism(*this))) // A1 … A3
    return failure();
  if (getLeft().empty())
    return success();
  if (getLeft().size() != 2) // A106
    return emitOpError() << "expected two more results, a state and the logarithms of its sums, or none, but got " << getLeft().size();
  ArrayRef<int64_t> k = shapeOf(getKey());
  if (failed(checkShape(*this, "state", getState().getType(), {k[0], k[1], k[3], shapeOf(getValue())[3]})))
    return failure();
  return checkShape(*this, "lse", getLse().getType(), {k[0], k[1], k[3]});
}

/// A34: equal runs of tokens.
static LogicalResult checkRuns(Operation *op, StringRef what, int64_t count, int64_t tokens) {
  if (divides(count, tokens))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "expected " << what << " of at least 1";
  if (!ShapedType::isDynamic(tokens))
    error << " that divide " << tokens;
  return error << ", but got " << count;
}

/// A5
template <typename Op> static LogicalResult checkLse(Op op) {
  return op.getLse() ? checkShape(op, "lse", op.getLse().getType(), shapeOf(op.getQuery()).drop_back()) : success();
}

LogicalResult AgentOp::verify() {
  if (failed(checkMechanism(*this)) || failed(checkPositive(*this, "scale", getScale()))) // A1 … A4
    return failure();
  if (failed(checkLse(*this))) // A5
    return failure();
  return checkRuns(*this, "agents", static_cast<int64_t>(getAgents()), shapeOf(getQuery())[2]); // A34
}

LogicalResult PoolOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource());
  auto count = static_cast<int64_t>(getCount());
  if (failed(checkRuns(*this, "runs", count, x[2]))) // A34
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], x[1], count, x[3]}); // A34
}

LogicalResult SequenceSoftmaxOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (failed(checkLengths(*this, getLengths(), x[0]))) // A3
    return failure();
  return checkShape(*this, "result", getResult().getType(), x); // A35
}

LogicalResult SequenceLseOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (failed(checkLengths(*this, getLengths(), x[0]))) // A3
    return failure();
  return checkShape(*this, "result", getResult().getType(), {x[0], x[1], x[3]}); // A107
}

LogicalResult SequenceWeightsOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getSource());
  if (failed(checkLengths(*this, getLengths(), x[0])) || failed(checkShape(*this, "lse", getLse().getType(), {x[0], x[1], x[3]}))) // A3, A107
    return failure();
  return checkShape(*this, "result", getResult().getType(), x); // A35
}

//===----------------------------------------------------------------------===//
// EVA
//===----------------------------------------------------------------------===//

/// A36: one run of `length` keys, and as many runs of queries as there are of keys.
static LogicalResult checkKeyRuns(Operation *op, StringRef what, int64_t length, int64_t queries, int64_t keys) {
  if (!divides(length, keys)) {
    InFlightDiagnostic error = op->emitOpError() << "expected " << what << " of at least 1";
    if (!ShapedType::isDynamic(keys))
      error << " that divides " << keys << " keys";
    return error << ", but got " << length;
  }
  if (ShapedType::isDynamic(keys) || ShapedType::isDynamic(queries) || keys == 0 || queries % (keys / length) == 0)
    return success();
  return op->emitOpError() << "expected " << what << " whose number of runs of keys divides " << queries
                           << " queries, but got " << keys / length << " runs";
}

template <typename Eva> static LogicalResult checkChunks(Eva op) {
  int64_t queries = shapeOf(op.getQuery())[2], keys = shapeOf(op.getKey())[2];
  if (failed(checkKeyRuns(op, "chunk", static_cast<int64_t>(op.getChunk()), queries, keys)))
    return failure();
  return op.getLocal() ? checkKeyRuns(op, "local", static_cast<int64_t>(*op.getLocal()), queries, keys) : success();
}

static LogicalResult checkMuWeight(Operation *op, const APFloat &weight) {
  if (weight.isFinite())
    return success();
  return op->emitOpError() << "expected a finite mu_weight, but got " << weight.convertToDouble();
}

/// A37: causal EVA.
template <typename Eva> static LogicalResult checkCausalEva(Eva op) {
  if (!op.getCausal())
    return success();
  if (failed(checkCausal(op, shapeOf(op.getQuery())[2], shapeOf(op.getKey())[2])))
    return failure();
  if (!op.getLocal())
    return op.emitOpError() << "expected a local with causal";
  auto local = static_cast<int64_t>(*op.getLocal()), chunk = static_cast<int64_t>(op.getChunk());
  if (local % chunk == 0)
    return success();
  return op.emitOpError() << "expected a chunk that divides local = " << local << " with causal, but got " << chunk;
}

LogicalResult EvaOp::verify() {
  if (failed(checkMechanism(*this)) || failed(checkPositive(*this, "scale", getScale())) || // A1 … A4
      failed(checkChunks(*this)) || failed(checkMuWeight(*this, getMuWeight())))            // A36
    return failure();
  return failed(checkLse(*this)) ? failure() : checkCausalEva(*this); // A5, A37
}

/// A38: the summaries of chunks, with `local` also those of chunks less the keys of a block.
template <typename Eva> static LogicalResult checkSummaries(Eva op, bool withBlocks) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()), v = shapeOf(op.getValue());
  int64_t rows = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(k[2])) {
    rows = k[2] / static_cast<int64_t>(op.getChunk());
    if (withBlocks)
      rows += 2 * (k[2] / static_cast<int64_t>(*op.getLocal()));
  }
  if (failed(checkShape(op, "mean", op.getMean().getType(), {q[0], q[1], rows, q[3]})) ||
      failed(checkShape(op, "summary", op.getSummary().getType(), {q[0], q[1], shapeOf(op.getMean())[2], v[3]})))
    return failure();
  return checkShape(op, "log weight", op.getLogWeight().getType(), {q[0], q[1], shapeOf(op.getMean())[2]});
}

LogicalResult EvaSummariesOp::verify() {
  if (failed(checkTokens(*this, getQuery(), getKey(), getValue())) ||
      failed(checkLengths(*this, getLengths(), shapeOf(getQuery())[0])) ||
      failed(checkPositive(*this, "scale", getScale())) ||                       // A1, A3, A4
      failed(checkChunks(*this)) || failed(checkMuWeight(*this, getMuWeight()))) // A36
    return failure();
  return checkSummaries(*this, getLocal().has_value()); // A38
}

LogicalResult EvaMixOp::verify() {
  if (failed(checkMechanism(*this)) || failed(checkPositive(*this, "scale", getScale())) || // A1 … A4
      failed(checkChunks(*this)) || failed(checkCausalEva(*this)))                          // A36, A37
    return failure();
  if (getExcludeLocal() && !getLocal()) // A39
    return emitOpError() << "expected a local with exclude_local";
  return failed(checkLse(*this)) ? failure() : checkSummaries(*this, getExcludeLocal()); // A5, A38
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Of q, k and v with a row for each query head.
template <typename Eva> static LogicalResult checkTokenGradients(Eva op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()), v = shapeOf(op.getValue());
  if (failed(checkShape(op, "query gradient", op.getQueryGradient().getType(), q)) ||
      failed(checkShape(op, "key gradient", op.getKeyGradient().getType(), {k[0], q[1], k[2], k[3]})))
    return failure();
  return checkShape(op, "value gradient", op.getValueGradient().getType(), {v[0], q[1], v[2], v[3]});
}

LogicalResult EvaMixGradientOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), v = shapeOf(getValue());
  if (failed(checkTokens(*this, getQuery(), getKey(), getValue())) || failed(checkLengths(*this, getLengths(), q[0])) ||
      failed(checkPositive(*this, "scale", getScale())) ||             // A1, A3, A4
      failed(checkChunks(*this)) || failed(checkCausalEva(*this)))     // A36, A37
    return failure();
  if (getExcludeLocal() && !getLocal()) // A39
    return emitOpError() << "expected a local with exclude_local";
  if (failed(checkSummaries(*this, getExcludeLocal())) || // A38
      failed(checkShape(*this, "cotangent", getCotangent().getType(), {q[0], q[1], q[2], v[3]})) || // A92
      failed(checkShape(*this, "output", getOutput().getType(), {q[0], q[1], q[2], v[3]})) || failed(checkLse(*this)) ||
      failed(checkTokenGradients(*this)) ||
      failed(checkShape(*this, "mean gradient", getMeanGradient().getType(), shapeOf(getMean()))))
    return failure();
  return checkShape(*this, "summary gradient", getSummaryGradient().getType(), shapeOf(getSummary())); // A92
}

LogicalResult EvaSummariesGradientOp::verify() {
  ArrayRef<int64_t> q = shapeOf(getQuery()), v = shapeOf(getValue()), mean = shapeOf(getMean());
  if (failed(checkTokens(*this, getQuery(), getKey(), getValue())) || failed(checkLengths(*this, getLengths(), q[0])) ||
      failed(checkPositive(*this, "scale", getScale())) ||                       // A1, A3, A4
      failed(checkChunks(*this)) || failed(checkMuWeight(*this, getMuWeight()))) // A36
    return failure();
  if (failed(checkShape(*this, "mean", getMean().getType(), {q[0], q[1], mean[2], q[3]})) ||
      failed(checkShape(*this, "summary", getSummary().getType(), {q[0], q[1], mean[2], v[3]}))) // A93
    return failure();
  return checkTokenGradients(*this); // A93
}
