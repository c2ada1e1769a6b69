//===- Suggestions.cpp - Near misses of names ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace attune {

/// Longer names are no misspelling of ours, and the distance costs their length squared.
static constexpr size_t longestName = 40;

/// What frameworks and papers call our fields and values.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> synonyms[] = {
    {"name", "attention"},
    {"type", "kind"},
    {"precision", "dtype"},
    {"data_type", "dtype"},
    {"num_heads", "heads"},
    {"n_heads", "heads"},
    {"num_kv_heads", "kv_heads"},
    {"groups", "kv_heads"},
    {"seq_len", "queries"},
    {"seqlen", "queries"},
    {"sequence", "queries"},
    {"n", "queries"},
    {"query", "queries"},
    {"key", "keys"},
    {"head", "heads"},
    {"head_size", "head_dim"},
    {"num_queries", "queries"},
    {"num_keys", "keys"},
    {"dim", "head_dim"},
    {"d", "head_dim"},
    {"is_causal", "causal"},
    {"d_model", "model_dim"},
    {"hidden_size", "model_dim"},
    {"num_features", "features"},
    {"eps", "epsilon"},
    {"theta", "base"},
    {"window_size", "length"},
    {"float32", "f32"},
    {"float", "f32"},
    {"fp32", "f32"},
    {"float16", "f16"},
    {"fp16", "f16"},
    {"half", "f16"},
    {"bfloat16", "bf16"},
    {"yes", "true"},
    {"on", "true"},
    {"no", "false"},
    {"off", "false"},
    {"linear", "kernel"},
    {"performer", "favor"},
};

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
static size_t distanceOf(llvm::StringRef a, llvm::StringRef b) {
  llvm::SmallVector<size_t, 64> before, row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before = row;
    std::swap(row, next);
  }
  return row[b.size()];
}

llvm::StringRef findNearMiss(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  if (name.empty() || name.size() > longestName)
    return "";
  std::string lower = name.lower();
  for (const auto &[word, ours] : synonyms)
    if (word == lower && llvm::is_contained(candidates, ours))
      return ours;
  llvm::StringRef best;
  size_t bestDistance = longestName;
  for (llvm::StringRef candidate : candidates) {
    size_t longer = std::max(lower.size(), candidate.size()), shorter = std::min(lower.size(), candidate.size());
    size_t distance = distanceOf(lower, candidate);
    bool contained = shorter >= 3 && (candidate.contains(lower) || llvm::StringRef(lower).contains(candidate));
    bool near = distance <= 1 ? longer > 1 : distance * 5 <= longer * 2;
    if ((near || contained) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string suggestionNote(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates,
                           llvm::StringRef otherwise) {
  llvm::StringRef near = findNearMiss(name, candidates);
  return near.empty() ? otherwise.str() : ("did you mean '" + near + "'?").str();
}

std::string joinNames(llvm::ArrayRef<llvm::StringRef> names) { return llvm::join(names, ", "); }

} // namespace attune
