//===- RandomInputs.cpp - Tensors for a random spec ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomInputs.h"

#include "Choices.h"

#include <cmath>
#include <limits>

using namespace attune;
using namespace attune::random;

/// The largest norm for which the tolerances hold is 30·√d at the default scale; a larger scale makes the same logits
/// of smaller rows. A little inside, for rounding to bf16 moves a norm by up to 0.4 %.
static double normLimit(const RandomSpec &spec) {
  double byDefault = 1 / std::sqrt(static_cast<double>(spec.width));
  double excess = spec.isSoftmax ? std::max(1.0, spec.logitScale() / byDefault) : 1;
  return 29.8 * std::sqrt(static_cast<double>(spec.width) / excess);
}

/// One row of `width` entries of a kind; `limit` is the largest norm of a row of the large kind.
static void drawRow(Choices &choices, InputKind kind, double limit, int64_t width, float *row) {
  // Few seeds of rows: many rows are then alike.
  Choices few(static_cast<uint64_t>(choices.below(3)), "tied row");
  Choices &source = kind == InputKind::Ties ? few : choices;
  double norm = 0;
  for (int64_t c = 0; c < width; ++c) {
    double entry = kind == InputKind::Outside ? source.uniform(-1e3, 1e3) : source.normal();
    if (kind == InputKind::Zeros && choices.once(3))
      entry = choices.once(2) ? 0.0 : -0.0;
    row[c] = static_cast<float>(entry);
    norm += entry * entry;
  }
  if (kind != InputKind::Large || norm == 0)
    return;
  double target = choices.uniform(0, limit);
  for (int64_t c = 0; c < width; ++c)
    row[c] = static_cast<float>(row[c] * (target / std::sqrt(norm)));
}

static HostTensor drawTokens(Choices choices, InputKind kind, double limit, llvm::ArrayRef<int64_t> shape) {
  HostTensor tensor = HostTensor::zeros(ElementType::F32, shape);
  for (int64_t row = 0; row < tensor.count() / shape[3]; ++row)
    drawRow(choices, kind, limit, shape[3], tensor.data<float>() + row * shape[3]);
  return tensor;
}

static HostTensor drawLengths(Choices choices, const RandomSpec &spec) {
  HostTensor lengths = HostTensor::zeros(ElementType::I32, {spec.batch});
  for (int64_t b = 0; b < spec.batch; ++b) {
    int64_t length = choices.pick({int64_t(0), spec.keys, choices.below(spec.keys + 1), choices.below(spec.keys + 1)});
    lengths.data<int32_t>()[b] = static_cast<int32_t>(length);
  }
  return lengths;
}

/// What nobody may read, in every row at or past the length.
static void poison(Choices choices, const HostTensor &lengths, HostTensor &tokens) {
  int64_t rows = tokens.shape[2], width = tokens.shape[3];
  for (int64_t entry = 0; entry < tokens.shape[0] * tokens.shape[1]; ++entry)
    for (int64_t row = lengths.data<int32_t>()[entry / tokens.shape[1]]; row < rows; ++row)
      for (int64_t c = 0; c < width; ++c)
        tokens.data<float>()[(entry * rows + row) * width + c] =
            choices.pick({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 3e38f});
}

/// The largest norm of a row whose entries are all finite.
static double largestNorm(const HostTensor &tokens) {
  double largest = 0;
  int64_t width = tokens.shape[3];
  for (int64_t row = 0; row < tokens.count() / width; ++row) {
    double norm = 0;
    for (int64_t c = 0; c < width; ++c) {
      double entry = tokens.data<float>()[row * width + c];
      norm += entry * entry;
    }
    largest = std::max(largest, norm);
  }
  return std::sqrt(largest);
}

RandomInputs attune::random::drawInputs(const RandomSpec &spec, uint64_t seed) {
  Choices choices(seed, "inputs");
  auto kind = choices.pick({InputKind::Normal, InputKind::Normal, InputKind::Large, InputKind::Large, InputKind::Ties,
                            InputKind::Zeros, InputKind::Outside});
  double limit = normLimit(spec);
  RandomInputs inputs{kind, drawTokens({seed, "q"}, kind, limit, {spec.batch, spec.heads, spec.queries, spec.width}),
                      drawTokens({seed, "k"}, kind, limit, {spec.batch, spec.sharedHeads, spec.keys, spec.width}),
                      drawTokens({seed, "v"}, InputKind::Normal, limit,
                                 {spec.batch, spec.sharedHeads, spec.keys, spec.valueWidth}),
                      std::nullopt, 0};
  inputs.largestLogit = largestNorm(inputs.query) * largestNorm(inputs.key) * (spec.isSoftmax ? spec.logitScale() : 0);
  if (spec.keyLengths) {
    inputs.lengths = drawLengths({seed, "key_lengths"}, spec);
    poison({seed, "poison k"}, *inputs.lengths, inputs.key);
    poison({seed, "poison v"}, *inputs.lengths, inputs.value);
  }
  return inputs;
}
