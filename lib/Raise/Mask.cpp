//===- Mask.cpp - Masks in the words of attn --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask is evaluated for every query and key, and the table is compared with what attn can say: causal order, blocks,
// a number of keys. So every way of writing a triangle is understood, and nothing that only looks like one.
//
//===----------------------------------------------------------------------===//
#include "Match.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune::raise;

/// Larger tables are refused rather than waited for.
static constexpr int64_t largestTable = int64_t(1) << 24;

/// The term with all entries that can be read replaced, so that it depends on what it reads and no more.
static TermRef resolve(Terms &terms, TermRef term, unsigned depth = 32) {
  term = terms.value(term);
  if (term->kind != Kind::Apply || depth == 0)
    return term;
  SmallVector<TermRef> operands;
  for (TermRef operand : term->operands)
    operands.push_back(resolve(terms, operand, depth - 1));
  return term->function == Function::Other ? term : terms.apply(term->function, operands);
}

/// A mask that can be evaluated at one place can be at all.
static bool isKnown(Terms &terms, TermRef mask, Value place, Refusal &refusal) {
  Terms::Unknown unknown;
  if (terms.evaluate(mask, SmallVector<int64_t>(terms.indexCount(), 0), unknown))
    return true;
  return refusal.because(
      "expected a mask that is known when the program is compiled, but got one of values that are not; "
      "attn.softmax has causal order, windows and key lengths",
      unknown.value ? unknown.value : place);
}

namespace {
/// Which keys each query sees, row by row.
struct Table {
  int64_t rows = 0, columns = 0;
  std::vector<bool> sees;
  bool at(int64_t i, int64_t j) const { return sees[i * columns + j]; }
};
} // namespace

static bool fill(Terms &terms, ArrayRef<TermRef> masks, std::optional<unsigned> query, unsigned key, Table &table,
                 Value place, Refusal &refusal) {
  SmallVector<int64_t> at(terms.indexCount(), 0);
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t j = 0; j < table.columns; ++j) {
      at[key] = j;
      if (query)
        at[*query] = i;
      double sum = 0;
      for (TermRef mask : masks) {
        Terms::Unknown unknown;
        sum += terms.evaluate(mask, at, unknown).value_or(std::nan(""));
      }
      if (sum != 0 && !(sum <= hides))
        return refusal.because(
            llvm::formatv("expected a mask of 0 and -10000 or less, but got {0} at query {1}, key {2}; "
                          "attn.softmax adds no biases",
                          textOf(sum), i, j),
            place);
      table.sees[i * table.columns + j] = sum == 0;
    }
  return true;
}

/// The first and last key that a query sees.
static std::pair<int64_t, int64_t> visibleKeys(const Table &table, int64_t row) {
  int64_t first = table.columns, last = -1;
  for (int64_t j = 0; j < table.columns; ++j)
    if (table.at(row, j))
      first = std::min(first, j), last = j;
  return {first, last};
}

/// The words that would give such a table; whether they do is for `gives` to say.
static std::optional<Visibility> guess(const Table &table, Refusal &refusal, Value place) {
  Visibility visibility;
  int64_t existing = 0;
  for (int64_t i = 0; i < table.rows; ++i) {
    auto [first, last] = visibleKeys(table, i);
    if (last < 0) {
      refusal.because(llvm::formatv("expected every query to see a key, but got none for query {0}, whose row is "
                                    "0 in attn and something else here",
                                    i),
                      place);
      return std::nullopt;
    }
    existing = std::max(existing, last + 1);
    if (first > 0 && visibility.window == 0)
      visibility.window = i;
  }
  visibility.length = existing == table.columns ? -1 : existing;
  auto [first, last] = visibleKeys(table, 0);
  visibility.causal = table.rows > 1 && last == table.columns - table.rows && existing > last + 1;
  if (table.rows == table.columns && visibility.window == 0)
    visibility.causal = visibility.causal || (last == 0 && existing > 1);
  if (visibility.window > 1 && last == 0)
    visibility.causal = true;
  return visibility;
}

static bool gives(const Visibility &visibility, const Table &table) {
  if (visibility.window != 0 && (table.rows != table.columns || table.rows % visibility.window != 0))
    return false;
  for (int64_t i = 0; i < table.rows; ++i)
    for (int64_t j = 0; j < table.columns; ++j) {
      bool sees = (!visibility.causal || j <= i + table.columns - table.rows) &&
                  (visibility.window == 0 || i / visibility.window == j / visibility.window) &&
                  (visibility.length < 0 || j < visibility.length);
      if (sees != table.at(i, j))
        return false;
    }
  return true;
}

/// The one index of queries that the masks depend on, if they depend on one.
static bool findQuery(Terms &terms, const SoftmaxMatch &match, ArrayRef<TermRef> masks, Visibility &visibility,
                      Refusal &refusal) {
  for (unsigned index = 0; index < terms.indexCount(); ++index) {
    bool used = terms.simplify(terms.expr(index)) == terms.expr(index) && !llvm::is_contained(match.keys, index) &&
                llvm::any_of(masks, [&](TermRef mask) { return terms.dependsOn(mask, index); });
    if (!used)
      continue;
    bool ofQuery = terms.dependsOn(match.logits.query, index) && !terms.dependsOn(match.logits.key, index);
    if (!ofQuery || visibility.query)
      return refusal.because(
          "expected a mask of queries and keys alone, but got one that differs between heads or batches", match.root);
    visibility.query = index;
  }
  return true;
}

bool attune::raise::readMasks(Terms &terms, const SoftmaxMatch &match, Visibility &visibility, Refusal &refusal) {
  SmallVector<TermRef> masks;
  for (TermRef mask : match.logits.masks)
    masks.push_back(resolve(terms, mask));
  llvm::erase_if(masks, [](TermRef mask) { return mask->kind == Kind::Number && mask->number == 0; });
  llvm::erase_if(masks, [&](TermRef mask) { return readLengths(terms, mask, match, visibility); });
  if (masks.empty())
    return true;
  if (!llvm::all_of(masks, [&](TermRef mask) { return isKnown(terms, mask, match.root, refusal); }))
    return false;
  if (!findQuery(terms, match, masks, visibility, refusal))
    return false;
  bool oneKey = match.keys.size() == 1 && terms.simplify(terms.expr(match.keys[0])) == terms.expr(match.keys[0]);
  Table table{visibility.query ? terms.extent(*visibility.query) : 1, oneKey ? terms.extent(match.keys[0]) : 0, {}};
  if (!oneKey)
    return refusal.because("expected a mask over one dimension of keys, but got several", match.root);
  if (ShapedType::isDynamic(table.rows) || ShapedType::isDynamic(table.columns))
    return refusal.because(
        "expected static numbers of queries and keys beside a mask, but got dynamic ones; causal order "
        "counts from the last query and key",
        match.root);
  if (table.rows * table.columns > largestTable)
    return refusal.because(llvm::formatv("expected a mask of at most {0} entries, but got {1} queries and {2} keys",
                                         largestTable, table.rows, table.columns),
                           match.root);
  table.sees.resize(table.rows * table.columns);
  if (!fill(terms, masks, visibility.query, match.keys[0], table, match.root, refusal))
    return false;
  Visibility read = visibility;
  std::optional<Visibility> words = guess(table, refusal, match.root);
  if (!words)
    return false;
  if (!gives(*words, table))
    return refusal.because(
        "expected a mask that is causal order, windows or a number of keys, but got another pattern; "
        "causal order is key <= query + keys - queries",
        match.root);
  if (words->length >= 0 && read.lengths)
    return refusal.because("expected one number of keys, but got an input and a constant", match.root);
  visibility = *words;
  visibility.query = read.query, visibility.lengths = read.lengths, visibility.batch = read.batch;
  return true;
}
