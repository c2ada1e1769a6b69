//===- Attention.h - Attention mechanisms by their definition ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain functions in f64: each mechanism straight from its formula (ATTENTION_MATH §1, §4, §5), streaming over the
// sequence, so that chosen rows of a sequence of 70,000 cost seconds and the memory of the inputs. n queries, N keys,
// H heads, G key-value heads; head h reads key-value head ⌊h·G/H⌋. Keys that do not exist are never read.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_ATTENTION_H
#define ATTUNE_REFERENCE_ATTENTION_H

#include "attune/Attn/Attn.h"
#include "attune/Reference/Array.h"

#include <optional>
#include <string>

namespace attune::reference {

/// What all mechanisms take.
struct AttentionInputs {
  Array query, key, value;                  ///< [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv]
  std::optional<Array> lengths;             ///< [batch]: keys at or past it do not exist
  bool causal = false;                      ///< query i sees key j iff j ≤ i + N − n
  std::optional<std::vector<int64_t>> rows; ///< the queries to compute; absent: all

  /// What is wrong with the sizes, lengths and rows, as `expected …, but got …`; empty if nothing is.
  std::string problem() const;

  int64_t batch() const { return query.size(0); }
  int64_t heads() const { return query.size(1); }
  int64_t queries() const { return query.size(2); }
  int64_t keys() const { return key.size(2); }
  int64_t sharedHeads() const { return key.size(1); }
  int64_t sharedHead(int64_t head) const { return head * sharedHeads() / heads(); }
  /// The rows to compute, in the order of the results.
  std::vector<int64_t> chosenRows() const;
  /// Keys of a batch entry that exist.
  int64_t length(int64_t batch) const;
  /// Query `row` sees the keys below it.
  int64_t visibleEnd(int64_t batch, int64_t row) const;
};

/// R is the number of chosen rows.
struct SoftmaxResults {
  Array output; ///< [batch, H, R, dv]; a row that sees no key is 0
  Array lse;    ///< [batch, H, R]: log Σ exp(logit); −∞ for such a row
};

SoftmaxResults softmaxAttention(const AttentionInputs &inputs, double scale);

struct KernelOptions {
  attn::FeatureKind map = attn::FeatureKind::Elu1;
  double bias = 0, floor = 0;                    ///< the denominator's guard
  std::optional<Array> initialState, initialSum; ///< [batch, G, m, dv], [batch, G, m]; with causal only
};

struct KernelResults {
  Array output;               ///< [batch, H, R, dv]
  Array finalState, finalSum; ///< [batch, G, m, dv], [batch, G, m]
};

/// What is wrong with kernel attention of these inputs, beside AttentionInputs::problem.
std::string kernelProblem(const AttentionInputs &inputs, const KernelOptions &options);

KernelResults kernelAttention(const AttentionInputs &inputs, const KernelOptions &options);

/// φ of one row of `width` entries.
void applyMap(attn::FeatureKind map, const double *row, int64_t width, double *features);

/// numerator / max(denominator + bias, floor), 0 where that is exactly 0.
double guardedQuotient(double numerator, double denominator, double bias, double floor);

/// Rows `rows` of the third dimension of [batch, heads, tokens, …], copied.
Array selectRows(const Array &array, llvm::ArrayRef<int64_t> rows);

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_ATTENTION_H
