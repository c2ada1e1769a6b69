//===- EvalEvaGradients.cpp - Gradients of EVA's terms ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EvaChunks.h"
#include "Evaluators.h"
#include "Shapes.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace attune;
using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

/// x_j = w_j (ȳ_j − ⟨w, ȳ⟩): what reaches the logits of softmax weights w that ȳ reaches.
static std::vector<double> throughSoftmax(ArrayRef<double> weights, ArrayRef<double> cotangents) {
  double mean = 0;
  std::vector<double> result;
  for (auto [weight, cotangent] : llvm::zip_equal(weights, cotangents))
    mean += weight * cotangent;
  for (auto [weight, cotangent] : llvm::zip_equal(weights, cotangents))
    result.push_back(weight * (cotangent - mean));
  return result;
}

//===----------------------------------------------------------------------===//
// The joint softmax
//===----------------------------------------------------------------------===//

namespace {
/// What one query weighs: a key, or a row of the summaries.
struct Column {
  bool isKey;
  int64_t index;
};

/// One head of the gradient of `attn.eva_mix`.
struct MixGradient {
  const Head &head;
  const EvaOptions &options;
  const SummaryRows &rows;
  const Array &mean, &summary, &logWeight, &cotangent, &output, &lse;
  Array &query, &key, &value, &meanGradient, &summaryGradient;

  std::vector<Column> columnsOf(int64_t row) const {
    std::vector<Column> columns;
    int64_t keys = head.inputs.keys();
    std::optional<int64_t> block;
    if (options.local) {
      block = row / (head.inputs.queries() / (keys / *options.local));
      int64_t end = std::min((*block + 1) * *options.local, head.inputs.visibleEnd(head.batch, row));
      for (int64_t j = *block * *options.local; j < end; ++j)
        columns.push_back({true, j});
    }
    int64_t chunks = head.inputs.causal ? row / options.chunk : keys / options.chunk;
    for (int64_t c = 0; c < chunks; ++c)
      if (std::optional<int64_t> place = rows.rowOf(c, options.excludeLocal ? block : std::nullopt);
          place && logWeight({head.batch, head.head, *place}) != lowest)
        columns.push_back({false, *place});
    return columns;
  }

  void addRow(int64_t i) const {
    int64_t b = head.batch, h = head.head, width = head.key.width(), valueWidth = head.valueWidth();
    std::vector<Column> columns = columnsOf(i);
    std::vector<double> own(valueWidth), given(valueWidth);
    copyRow(cotangent, b, h, i, own.data());
    copyRow(output, b, h, i, given.data());
    double delta = dot(own.data(), given.data(), valueWidth);
    auto keyOf = [&](Column column) { return column.isKey ? head.key[column.index] : mean.at({b, h, column.index, 0}); };
    auto valueOf = [&](Column column) { return column.isKey ? head.value[column.index] : summary.at({b, h, column.index, 0}); };
    for (Column column : columns) {
      double share = column.isKey ? 0 : logWeight({b, h, column.index});
      double weight = std::exp(options.scale * dot(head.query[i], keyOf(column), width) + share - lse({b, h, i}));
      double logit = weight * (dot(own.data(), valueOf(column), valueWidth) - delta);
      addScaled(options.scale * logit, keyOf(column), width, query.at({b, h, i, 0}));
      addScaled(options.scale * logit, head.query[i], width, (column.isKey ? key : meanGradient).at({b, h, column.index, 0}));
      addScaled(weight, own.data(), valueWidth, (column.isKey ? value : summaryGradient).at({b, h, column.index, 0}));
    }
  }
};
} // namespace

/// [batch, H, tokens, width] for tokens of fewer heads.
static Array perHead(const Array &tokens, int64_t heads) { return Array({tokens.size(0), heads, tokens.size(2), tokens.size(3)}); }

/// The same elements in their order, row after row.
static Array compact(const Array &array) { return makeArray(array.shape(), array.elements()); }

static LogicalResult evalMixGradient(AttnFrame &frame, attn::EvaMixGradientOp op) {
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()], frame.optional(op.getLengths()), op.getCausal()};
  EvaOptions options{static_cast<int64_t>(op.getChunk()), localOf(op), 0, op.getScale().convertToDouble(), op.getExcludeLocal(), false};
  std::string problem = inputs.problem();
  if (failed(check(op, problem.empty() ? evaProblem(inputs, options) : problem)))
    return failure();
  SummaryRows rows(inputs.keys(), options.chunk, options.excludeLocal ? options.local : std::nullopt);
  Array mean = compact(frame[op.getMean()]), summary = compact(frame[op.getSummary()]);
  const Array &logWeight = frame[op.getLogWeight()], &cotangent = frame[op.getCotangent()], &output = frame[op.getOutput()], &lse = frame[op.getLse()];
  if (failed(expectShape(op, "mean", mean, {inputs.batch(), inputs.heads(), rows.count(), inputs.key.size(3)})) ||
      failed(expectShape(op, "summary", summary, {inputs.batch(), inputs.heads(), rows.count(), inputs.value.size(3)})) ||
      failed(expectShape(op, "log weight", logWeight, mean.shape().drop_back())) ||
      failed(expectShape(op, "cotangent", cotangent, {inputs.batch(), inputs.heads(), inputs.queries(), inputs.value.size(3)})) ||
      failed(expectShape(op, "output", output, cotangent.shape())) || failed(expectShape(op, "lse", lse, cotangent.shape().drop_back())))
    return failure();
  Array query(inputs.query.shape()), key = perHead(inputs.key, inputs.heads()), value = perHead(inputs.value, inputs.heads());
  Array meanGradient(mean.shape()), summaryGradient(summary.shape());
  forEachHead(inputs, [&](const Head &head) {
    MixGradient gradient{head, options, rows, mean, summary, logWeight, cotangent, output, lse, query, key, value, meanGradient, summaryGradient};
    for (int64_t i = 0; i < inputs.queries() && inputs.keys() > 0; ++i)
      gradient.addRow(i);
  });
  frame.set(op.getQueryGradient(), query);
  frame.set(op.getKeyGradient(), key);
  frame.set(op.getValueGradient(), value);
  frame.set(op.getMeanGradient(), meanGradient);
  frame.set(op.getSummaryGradient(), summaryGradient);
  return success();
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

namespace {
/// One head of the gradient of `attn.eva_summaries`.
struct SummariesGradient {
  const Head &head;
  const EvaOptions &options;
  const EvaChunks &chunks;
  const Array &mean, &summary; ///< what reaches them
  Array &query, &key, &value;

  /// The summary `row` of a chunk, the keys of a block left out.
  void addRow(int64_t row, int64_t chunk, std::optional<int64_t> without) const {
    std::vector<int64_t> keys = chunks.keysOf(chunk, without);
    if (keys.empty())
      return;
    int64_t b = head.batch, h = head.head, width = head.key.width(), valueWidth = head.valueWidth();
    auto count = static_cast<double>(keys.size());
    std::vector<double> ofMean(width), ofSummary(valueWidth), mu(width), muGradient(width), weights, reaching;
    copyRow(mean, b, h, row, ofMean.data());
    copyRow(summary, b, h, row, ofSummary.data());
    for (int64_t j : keys)
      addScaled(options.muWeight / count, head.key[j], width, mu.data());
    addScaled(options.muWeight, chunks.queryMean(chunk), width, mu.data());
    for (int64_t j : keys) {
      weights.push_back(options.scale * (dot(mu.data(), head.key[j], width) - 0.5 * dot(head.key[j], head.key[j], width)));
      reaching.push_back(dot(ofSummary.data(), head.value[j], valueWidth));
    }
    softmaxInPlace(weights);
    std::vector<double> logits = throughSoftmax(weights, reaching);
    for (auto [j, weight, logit] : llvm::zip_equal(keys, weights, logits)) {
      addScaled(weight, ofSummary.data(), valueWidth, value.at({b, h, j, 0}));
      addScaled(options.scale * logit, mu.data(), width, key.at({b, h, j, 0}));
      addScaled(-options.scale * logit, head.key[j], width, key.at({b, h, j, 0}));
      addScaled(options.scale * logit, head.key[j], width, muGradient.data());
    }
    addScaled(options.muWeight, muGradient.data(), width, ofMean.data()); // μ = mu_weight (q̄ + k̄)
    for (int64_t j : keys)
      addScaled(1 / count, ofMean.data(), width, key.at({b, h, j, 0}));
    int64_t run = query.size(2) / chunks.count();
    for (int64_t t = chunk * run; t < (chunk + 1) * run; ++t)
      addScaled(options.muWeight / static_cast<double>(run), muGradient.data(), width, query.at({b, h, t, 0}));
  }
};
} // namespace

static LogicalResult evalSummariesGradient(AttnFrame &frame, attn::EvaSummariesGradientOp op) {
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()], frame.optional(op.getLengths())};
  EvaOptions options{static_cast<int64_t>(op.getChunk()), localOf(op), op.getMuWeight().convertToDouble(), op.getScale().convertToDouble(),
                     op.getLocal().has_value(), op.getMass()};
  std::string problem = inputs.problem();
  if (failed(check(op, problem.empty() ? evaProblem(inputs, options) : problem)))
    return failure();
  SummaryRows rows(inputs.keys(), options.chunk, options.local);
  const Array &mean = frame[op.getMean()], &summary = frame[op.getSummary()];
  if (failed(expectShape(op, "mean", mean, {inputs.batch(), inputs.heads(), rows.count(), inputs.key.size(3)})) ||
      failed(expectShape(op, "summary", summary, {inputs.batch(), inputs.heads(), rows.count(), inputs.value.size(3)})))
    return failure();
  Array query(inputs.query.shape()), key = perHead(inputs.key, inputs.heads()), value = perHead(inputs.value, inputs.heads());
  forEachHead(inputs, [&](const Head &head) {
    EvaChunks chunks(head, options);
    SummariesGradient gradient{head, options, chunks, mean, summary, query, key, value};
    for (int64_t c = 0; c < rows.chunks; ++c)
      gradient.addRow(c, c, std::nullopt);
    for (int64_t block = 0; block < rows.blocks; ++block) {
      gradient.addRow(rows.chunks + 2 * block, rows.firstOf(block), block);
      if (rows.lastOf(block) != rows.firstOf(block))
        gradient.addRow(rows.chunks + 2 * block + 1, rows.lastOf(block), block);
    }
  });
  frame.set(op.getQueryGradient(), query);
  frame.set(op.getKeyGradient(), key);
  frame.set(op.getValueGradient(), value);
  return success();
}

void attune::reference::addEvaGradients(Evaluators &all) { all.add(evalMixGradient, evalSummariesGradient); }
