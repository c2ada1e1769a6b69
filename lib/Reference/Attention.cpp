//===- Attention.cpp - What all mechanisms take --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Attention.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>

using namespace attune::reference;

static std::string show(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

static std::string mismatch(llvm::StringRef what, const Array &array, llvm::ArrayRef<int64_t> expected) {
  if (array.shape() == expected)
    return "";
  return ("expected " + what + " of " + show(expected) + ", but got " + show(array.shape())).str();
}

static std::string badLength(const Array &lengths, int64_t keys) {
  for (double length : lengths.elements())
    if (!(length >= 0 && length <= static_cast<double>(keys))) {
      std::string text;
      llvm::raw_string_ostream(text) << "expected lengths from 0 to " << keys << ", but got " << length;
      return text;
    }
  return "";
}

std::string AttentionInputs::problem() const {
  for (const Array *tokens : {&query, &key, &value})
    if (tokens->rank() != 4)
      return "expected query, key and value of rank 4, but got rank " + std::to_string(tokens->rank());
  if (sharedHeads() < 1 || heads() % sharedHeads() != 0)
    return "expected a number of key-value heads that divides " + std::to_string(heads()) + ", but got " +
           std::to_string(sharedHeads());
  std::string text = mismatch("key", key, {batch(), sharedHeads(), keys(), query.size(3)});
  if (text.empty())
    text = mismatch("value", value, {batch(), sharedHeads(), keys(), value.size(3)});
  if (text.empty() && lengths)
    text = mismatch("lengths", *lengths, {batch()});
  if (text.empty() && lengths)
    text = badLength(*lengths, keys());
  for (int64_t row : rows.value_or(std::vector<int64_t>()))
    if (text.empty() && (row < 0 || row >= queries()))
      text = "expected rows from 0 and below " + std::to_string(queries()) + ", but got " + std::to_string(row);
  return text;
}

std::string attune::reference::kernelProblem(const AttentionInputs &inputs, const KernelOptions &options) {
  if (inputs.causal && inputs.queries() != inputs.keys())
    return "expected as many queries as keys with causal, but got " + std::to_string(inputs.queries()) + " and " +
           std::to_string(inputs.keys());
  if (!options.initialState != !options.initialSum || (options.initialState && !inputs.causal))
    return "expected an initial state and its sum together, and with causal";
  if (!options.initialState)
    return "";
  int64_t features = inputs.query.size(3);
  llvm::SmallVector<int64_t> sum{inputs.batch(), inputs.sharedHeads(), features}, state = sum;
  state.push_back(inputs.value.size(3));
  std::string text = mismatch("initial state", *options.initialState, state);
  return text.empty() ? mismatch("initial sum", *options.initialSum, sum) : text;
}

std::vector<int64_t> AttentionInputs::chosenRows() const {
  if (rows)
    return *rows;
  std::vector<int64_t> all(queries());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int64_t AttentionInputs::length(int64_t entry) const {
  return lengths ? static_cast<int64_t>((*lengths)({entry})) : keys();
}

int64_t AttentionInputs::visibleEnd(int64_t entry, int64_t row) const {
  int64_t end = length(entry);
  if (causal)
    end = std::min(end, row + 1 + keys() - queries());
  return std::max<int64_t>(end, 0);
}

void attune::reference::applyMap(attn::FeatureKind map, const double *row, int64_t width, double *features) {
  switch (map) {
  case attn::FeatureKind::Elu1:
    for (int64_t i = 0; i < width; ++i)
      features[i] = row[i] > 0 ? row[i] + 1 : std::exp(row[i]);
    return;
  default:
    llvm_unreachable("refused before it gets here");
  }
}

double attune::reference::guardedQuotient(double numerator, double denominator, double bias, double floor) {
  denominator += bias;
  // Written so that a NaN stays one, and a floor of 0 is no floor: a sum of weights may round below 0.
  if (floor > 0 && denominator < floor)
    denominator = floor;
  return denominator == 0 ? 0 : numerator / denominator;
}

Array attune::reference::selectRows(const Array &array, llvm::ArrayRef<int64_t> rows) {
  llvm::SmallVector<int64_t, 4> shape(array.shape());
  shape[2] = static_cast<int64_t>(rows.size());
  Array result(shape);
  bool hasWidth = array.rank() == 4;
  int64_t width = hasWidth ? array.size(3) : 1, stride = hasWidth ? array.stride(3) : 0;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (auto [r, row] : llvm::enumerate(rows)) {
        llvm::SmallVector<int64_t, 4> from{b, h, row}, to{b, h, static_cast<int64_t>(r)};
        from.resize(array.rank()), to.resize(array.rank());
        for (int64_t c = 0; c < width; ++c)
          result.element(result.place(to) + c) = array.element(array.place(from) + c * stride);
      }
  return result;
}
