//===- Attention.cpp - What all mechanisms take --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Reference/Attention.h"

#include "Shapes.h"

#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace attune;
using namespace attune::reference;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

std::optional<Window> Window::of(std::optional<attn::WindowAttr> attribute) {
  if (!attribute)
    return std::nullopt;
  return Window{attribute->getRows(), attribute->getColumns(), attribute->getGridRows(), attribute->getGridColumns()};
}

std::string Window::problem(int64_t tokens) const {
  if (gridRows == 0) // of sequences that lie end to end the last window may be shorter
    return "";
  if (gridRows * gridColumns != tokens)
    return "expected a grid of " + std::to_string(tokens) + " tokens, but got " + std::to_string(gridRows) + " x " +
           std::to_string(gridColumns);
  std::string text = doesNotDivide("a tile's height", rows, "the grid's", gridRows);
  return text.empty() ? doesNotDivide("a tile's width", columns, "the grid's", gridColumns) : text;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

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
  std::string text = differs("key", key, {batch(), sharedHeads(), keys(), query.size(3)});
  if (text.empty())
    text = differs("value", value, {batch(), sharedHeads(), keys(), value.size(3)});
  if (text.empty() && lengths)
    text = differs("lengths", *lengths, {batch()});
  if (text.empty() && lengths)
    text = badLength(*lengths, keys());
  if (text.empty() && window && queries() != keys())
    text = "expected as many queries as keys with a window, but got " + std::to_string(queries()) + " and " +
           std::to_string(keys());
  if (text.empty() && window)
    text = window->problem(keys());
  for (int64_t row : rows.value_or(std::vector<int64_t>()))
    if (text.empty() && (row < 0 || row >= queries()))
      text = "expected rows from 0 and below " + std::to_string(queries()) + ", but got " + std::to_string(row);
  return text;
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

double attune::reference::guardedQuotient(double numerator, double denominator, double bias, double floor) {
  denominator += bias;
  // Written so that a NaN stays one, and a floor of 0 is no floor: a sum of weights may round below 0.
  if (floor > 0 && denominator < floor)
    denominator = floor;
  return denominator == 0 ? 0 : numerator / denominator;
}

Array attune::reference::selectRows(const Array &array, llvm::ArrayRef<int64_t> rows, int64_t dimension) {
  llvm::SmallVector<int64_t, 4> shape(array.shape());
  shape[dimension] = static_cast<int64_t>(rows.size());
  Array result(shape);
  llvm::SmallVector<int64_t, 4> to(shape.size(), 0), from;
  for (int64_t left = result.count(), place = 0; left > 0; --left, ++place) {
    from = to;
    from[dimension] = rows[to[dimension]];
    result.element(place) = array(from);
    for (int64_t i = result.rank() - 1; i >= 0 && ++to[i] == shape[i]; --i)
      to[i] = 0;
  }
  return result;
}
