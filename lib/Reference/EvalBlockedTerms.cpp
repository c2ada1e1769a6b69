//===- EvalBlockedTerms.cpp - Pools, softmax over the sequence, EVA's terms ===//
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

static LogicalResult evalPool(AttnFrame &frame, attn::PoolOp op) {
  const Array &source = frame[op.getSource()];
  auto count = static_cast<int64_t>(op.getCount());
  if (failed(check(op, doesNotDivide("a count", count, "the number of tokens", source.size(2)))))
    return failure();
  int64_t run = source.size(2) / count;
  Array result({source.size(0), source.size(1), count, source.size(3)});
  for (int64_t b = 0; b < source.size(0); ++b)
    for (int64_t h = 0; h < source.size(1); ++h)
      for (int64_t t = 0; t < source.size(2); ++t)
        for (int64_t c = 0; c < source.size(3); ++c)
          result({b, h, t / run, c}) += source({b, h, t, c}) / static_cast<double>(run);
  frame.set(op.getResult(), std::move(result));
  return success();
}

/// Of every feature, with the number of tokens that exist.
static LogicalResult forEachFeature(AttnFrame &frame, Operation *op, Value source, Value lengths,
                                    function_ref<void(int64_t b, int64_t h, int64_t f, int64_t length)> of) {
  const Array &x = frame[source];
  FailureOr<std::vector<int64_t>> existing = readLengths(frame, op, lengths, x.size(0), x.size(2));
  if (failed(existing))
    return failure();
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t h = 0; h < x.size(1); ++h)
      for (int64_t f = 0; f < x.size(3); ++f)
        of(b, h, f, (*existing)[b]);
  return success();
}

static LogicalResult evalSequenceSoftmax(AttnFrame &frame, attn::SequenceSoftmaxOp op) {
  const Array &source = frame[op.getSource()];
  Array result(source.shape());
  auto normalize = [&](int64_t b, int64_t h, int64_t f, int64_t length) {
    std::vector<double> weights;
    for (int64_t t = 0; t < length; ++t)
      weights.push_back(source({b, h, t, f}));
    softmaxInPlace(weights);
    for (int64_t t = 0; t < length; ++t)
      result({b, h, t, f}) = weights[t];
  };
  if (failed(forEachFeature(frame, op, op.getSource(), op.getLengths(), normalize)))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalSequenceLse(AttnFrame &frame, attn::SequenceLseOp op) {
  const Array &source = frame[op.getSource()];
  Array result({source.size(0), source.size(1), source.size(3)});
  auto sumUp = [&](int64_t b, int64_t h, int64_t f, int64_t length) {
    std::vector<double> logits;
    for (int64_t t = 0; t < length; ++t)
      logits.push_back(source({b, h, t, f}));
    result({b, h, f}) = length == 0 ? std::numeric_limits<double>::infinity() : softmaxInPlace(logits);
  };
  if (failed(forEachFeature(frame, op, op.getSource(), op.getLengths(), sumUp)))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult evalSequenceWeights(AttnFrame &frame, attn::SequenceWeightsOp op) {
  const Array &source = frame[op.getSource()], &lse = frame[op.getLse()];
  if (failed(expectShape(op, "lse", lse, {source.size(0), source.size(1), source.size(3)})))
    return failure();
  Array result(source.shape());
  auto weigh = [&](int64_t b, int64_t h, int64_t f, int64_t length) {
    for (int64_t t = 0; t < length; ++t)
      result({b, h, t, f}) = std::exp(source({b, h, t, f}) - lse({b, h, f}));
  };
  if (failed(forEachFeature(frame, op, op.getSource(), op.getLengths(), weigh)))
    return failure();
  frame.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// EVA
//===----------------------------------------------------------------------===//

static LogicalResult evalSummaries(AttnFrame &frame, attn::EvaSummariesOp op) {
  AttentionInputs inputs{frame[op.getQuery()], frame[op.getKey()], frame[op.getValue()],
                         frame.optional(op.getLengths()), false, std::nullopt, std::nullopt, std::nullopt};
  EvaOptions options{static_cast<int64_t>(op.getChunk()), localOf(op), op.getMuWeight().convertToDouble(),
                     op.getScale().convertToDouble(), op.getLocal().has_value(), op.getMass()};
  std::string problem = inputs.problem();
  if (failed(check(op, problem.empty() ? evaProblem(inputs, options) : problem)))
    return failure();
  SummaryRows rows(inputs.keys(), options.chunk, options.local);
  Array mean({inputs.batch(), inputs.heads(), rows.count(), inputs.key.size(3)});
  Array value({inputs.batch(), inputs.heads(), rows.count(), inputs.value.size(3)});
  Array logWeight(mean.shape().drop_back(), lowest);
  forEachHead(inputs, [&](const Head &head) {
    EvaChunks chunks(head, options);
    auto put = [&](int64_t row, const EvaSummary &summary) {
      logWeight({head.batch, head.head, row}) = summary.logWeight;
      std::copy(summary.mean.begin(), summary.mean.end(), mean.at({head.batch, head.head, row, 0}));
      std::copy(summary.value.begin(), summary.value.end(), value.at({head.batch, head.head, row, 0}));
    };
    for (int64_t c = 0; c < rows.chunks; ++c)
      put(c, chunks.summarize(c, std::nullopt));
    for (int64_t block = 0; block < rows.blocks; ++block) {
      put(rows.chunks + 2 * block, chunks.summarize(rows.firstOf(block), block));
      if (rows.lastOf(block) != rows.firstOf(block))
        put(rows.chunks + 2 * block + 1, chunks.summarize(rows.lastOf(block), block));
    }
  });
  frame.set(op.getMean(), std::move(mean));
  frame.set(op.getSummary(), std::move(value));
  frame.set(op.getLogWeight(), std::move(logWeight));
  return success();
}

static LogicalResult checkSummaries(attn::EvaMixOp op, const AttentionInputs &inputs, const SummaryRows &rows,
                                    const Array &mean, const Array &value, const Array &logWeight) {
  if (failed(expectShape(op, "mean", mean, {inputs.batch(), inputs.heads(), rows.count(), inputs.key.size(3)})) ||
      failed(expectShape(op, "summary", value, {inputs.batch(), inputs.heads(), rows.count(), inputs.value.size(3)})))
    return failure();
  return expectShape(op, "log weight", logWeight, mean.shape().drop_back());
}

static LogicalResult evalMix(AttnFrame &frame, attn::EvaMixOp op) {
  AttnValue query = frame.rowsFor(op.getOutput(), op.getQuery());
  AttentionInputs inputs{query.array,    frame[op.getKey()],  frame[op.getValue()], frame.optional(op.getLengths()),
                         op.getCausal(), frame.rowsOf(query), query.queries,        std::nullopt};
  EvaOptions options{static_cast<int64_t>(op.getChunk()), localOf(op), 0, op.getScale().convertToDouble(),
                     op.getExcludeLocal(), false};
  AttentionInputs sizes = inputs; // the queries' number counts, not what they hold
  sizes.query = Array({inputs.batch(), inputs.heads(), inputs.queries(), 0}), sizes.tokens.reset();
  std::string problem = inputs.problem();
  if (failed(check(op, problem.empty() ? evaProblem(sizes, options) : problem)))
    return failure();
  SummaryRows rows(inputs.keys(), options.chunk, options.excludeLocal ? options.local : std::nullopt);
  const Array &mean = frame[op.getMean()], &value = frame[op.getSummary()], &logWeight = frame[op.getLogWeight()];
  if (failed(checkSummaries(op, inputs, rows, mean, value, logWeight)))
    return failure();
  Array output = outputOf(inputs), lse(output.shape().drop_back());
  forEachHead(inputs, [&](const Head &head) {
    std::vector<EvaSummary> summaries;
    for (int64_t row = 0; row < rows.count(); ++row) {
      EvaSummary &summary = summaries.emplace_back();
      summary.mean.resize(mean.size(3)), summary.value.resize(value.size(3));
      copyRow(mean, head.batch, head.head, row, summary.mean.data());
      copyRow(value, head.batch, head.head, row, summary.value.data());
      summary.logWeight = logWeight({head.batch, head.head, row});
    }
    const EvaSummary none{{}, {}, lowest};
    auto summaryOf = [&](int64_t chunk, std::optional<int64_t> without) -> const EvaSummary & {
      std::optional<int64_t> row = rows.rowOf(chunk, without);
      return row ? summaries[*row] : none;
    };
    for (int64_t r = 0; r < output.size(2); ++r)
      evaRow(head, options, r, summaryOf, output.at({head.batch, head.head, r, 0}), &lse({head.batch, head.head, r}));
  });
  frame.set(op.getOutput(), std::move(output), query.queries);
  if (op.getLse())
    frame.set(op.getLse(), std::move(lse), query.queries);
  return success();
}

void attune::reference::addBlockedTerms(Evaluators &all) {
  all.add(evalPool, evalSequenceSoftmax, evalSequenceLse, evalSequenceWeights, evalSummaries, evalMix);
}
