//===- EvaAttention.cpp - EVA by its definition --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EvaChunks.h"

#include "Shapes.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <limits>

using namespace attune::reference;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

std::string attune::reference::evaProblem(const AttentionInputs &inputs, const EvaOptions &options) {
  int64_t n = inputs.queries(), keys = inputs.keys();
  if (inputs.tokens)
    return "expected every query for the means of chunks, but got chosen rows alone";
  if (inputs.causal && (n != keys || !options.local || *options.local % options.chunk != 0))
    return "expected with causal as many queries as keys, and local blocks of whole chunks";
  for (auto [what, block] : {std::pair("a chunk", options.chunk), std::pair("a local block", options.local.value_or(1))}) {
    std::string text = doesNotDivide(what, block, "the number of keys", keys);
    if (text.empty() && keys > 0 && (options.local || block == options.chunk))
      text = doesNotDivide("a number of blocks", keys / block, "the number of queries", n);
    if (!text.empty())
      return text;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

EvaChunks::EvaChunks(const Head &head, const EvaOptions &options) : head(head), options(options) {
  const Array &query = head.inputs.query;
  int64_t run = count() == 0 ? 1 : query.size(2) / count(), width = query.size(3);
  queryMeans = Matrix(count(), width);
  std::vector<double> row(width);
  for (int64_t token = 0; count() > 0 && token < query.size(2); ++token) {
    copyRow(query, head.batch, head.head, token, row.data());
    addScaled(1.0 / static_cast<double>(run), row.data(), width, queryMeans[token / run]);
  }
}

std::vector<int64_t> EvaChunks::keysOf(int64_t chunk, std::optional<int64_t> without) const {
  std::vector<int64_t> keys;
  int64_t end = std::min((chunk + 1) * options.chunk, head.length());
  for (int64_t j = chunk * options.chunk; j < end; ++j)
    if (!without || j / *options.local != *without)
      keys.push_back(j);
  return keys;
}

EvaSummary EvaChunks::summarize(int64_t chunk, std::optional<int64_t> without) const {
  std::vector<int64_t> keys = keysOf(chunk, without);
  int64_t width = head.key.width();
  EvaSummary summary{std::vector<double>(width), std::vector<double>(head.valueWidth()), lowest};
  if (keys.empty())
    return summary;
  auto size = static_cast<double>(keys.size());
  for (int64_t j : keys)
    addScaled(1 / size, head.key[j], width, summary.mean.data());
  std::vector<double> mu(summary.mean), weights;
  for (int64_t c = 0; c < width; ++c)
    mu[c] = options.muWeight * (queryMeans[chunk][c] + summary.mean[c]);
  for (int64_t j : keys)
    weights.push_back(options.scale * (dot(mu.data(), head.key[j], width) -
                                       0.5 * dot(head.key[j], head.key[j], width)));
  softmaxInPlace(weights);
  for (auto [weight, j] : llvm::zip_equal(weights, keys))
    addScaled(weight, head.value[j], head.valueWidth(), summary.value.data());
  summary.logWeight = options.mass ? std::log(size) : 0;
  return summary;
}

//===----------------------------------------------------------------------===//
// The joint softmax
//===----------------------------------------------------------------------===//

void attune::reference::evaRow(const Head &head, const EvaOptions &options, int64_t place, const EvaSummaryOf &summaryOf,
                               double *output, double *lse) {
  int64_t row = head.rows[place], keys = head.inputs.keys(), width = head.key.width();
  if (lse)
    *lse = lowest;
  if (keys == 0)
    return;
  const double *query = head.query[place];
  std::vector<double> weights;
  std::vector<const double *> values;
  std::optional<int64_t> block;
  if (options.local) {
    int64_t run = head.inputs.queries() / (keys / *options.local);
    block = row / run;
    int64_t end = std::min((*block + 1) * *options.local, head.inputs.visibleEnd(head.batch, row));
    for (int64_t j = *block * *options.local; j < end; ++j) {
      weights.push_back(options.scale * dot(query, head.key[j], width));
      values.push_back(head.value[j]);
    }
  }
  int64_t chunks = head.inputs.causal ? row / options.chunk : keys / options.chunk;
  for (int64_t c = 0; c < chunks; ++c) {
    const EvaSummary &summary = summaryOf(c, options.excludeLocal ? block : std::nullopt);
    if (summary.logWeight == lowest)
      continue;
    weights.push_back(options.scale * dot(query, summary.mean.data(), width) + summary.logWeight);
    values.push_back(summary.value.data());
  }
  double sum = softmaxInPlace(weights);
  if (lse)
    *lse = sum;
  for (auto [weight, value] : llvm::zip_equal(weights, values))
    addScaled(weight, value, head.valueWidth(), output);
}

Array attune::reference::evaAttention(const AttentionInputs &inputs, const EvaOptions &options, Array *lse) {
  Array output = outputOf(inputs);
  if (lse)
    *lse = Array(output.shape().drop_back());
  forEachHead(inputs, [&](const Head &head) {
    EvaChunks chunks(head, options);
    std::vector<EvaSummary> whole;
    for (int64_t c = 0; c < chunks.count(); ++c)
      whole.push_back(chunks.summarize(c, std::nullopt));
    // Of what is left of a chunk beside a block, by chunk and block. References stay valid while others are added.
    std::map<std::pair<int64_t, int64_t>, EvaSummary> partial;
    auto summaryOf = [&](int64_t chunk, std::optional<int64_t> without) -> const EvaSummary & {
      if (!without || !chunks.meets(chunk, *without))
        return whole[chunk];
      auto [found, isNew] = partial.try_emplace({chunk, *without});
      if (isNew)
        found->second = chunks.summarize(chunk, without);
      return found->second;
    };
    for (int64_t r = 0; r < output.size(2); ++r)
      evaRow(head, options, r, summaryOf, output.at({head.batch, head.head, r, 0}), lse ? &(*lse)({head.batch, head.head, r}) : nullptr);
  });
  return output;
}
