//===- Attention.h - Attention mechanisms by their definition ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain functions in f64: each mechanism straight from its formula (ATTENTION_MATH §1 … §8), streaming over the
// sequence, so that chosen rows of a sequence of 70,000 cost seconds and the memory of the inputs. n queries, N keys,
// H heads, G key-value heads; head h reads key-value head ⌊h·G/H⌋. Keys that do not exist are never read.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_ATTENTION_H
#define ATTUNE_REFERENCE_ATTENTION_H

#include "attune/Reference/Array.h"
#include "attune/Reference/FeatureMap.h"

#include <optional>
#include <string>

namespace attune::reference {

/// Blocks of tokens that attend among themselves: runs of `columns` tokens if `gridRows` is 0, else the tiles of
/// `rows` × `columns` tokens of an image.
struct Window {
  int64_t rows = 1, columns = 1, gridRows = 0, gridColumns = 0;

  static std::optional<Window> of(std::optional<attn::WindowAttr> attribute);
  int64_t length() const { return rows * columns; }
  /// What keeps it from cutting `tokens` tokens; empty if nothing does.
  std::string problem(int64_t tokens) const;
};

/// What all mechanisms take. R is the number of chosen rows.
struct AttentionInputs {
  Array query, key, value;                  ///< [batch, H, n, d], [batch, G, N, d], [batch, G, N, dv]
  std::optional<Array> lengths = {};        ///< [batch]: keys at or past it do not exist
  bool causal = false;                      ///< query i sees key j iff j ≤ i + N − n
  std::optional<std::vector<int64_t>> rows = {}; ///< the queries to compute; absent: all
  std::optional<int64_t> tokens = {};       ///< n, if `query` holds the chosen rows alone
  std::optional<Window> window = {};        ///< a query sees the keys of its own block alone
  std::optional<int64_t> last = {};         ///< only the last so many of the keys that a query would see; with causal

  /// What is wrong with the sizes, lengths and rows, as `expected …, but got …`; empty if nothing is.
  std::string problem() const;

  int64_t batch() const { return query.size(0); }
  int64_t heads() const { return query.size(1); }
  int64_t queries() const { return tokens.value_or(query.size(2)); }
  int64_t keys() const { return key.size(2); }
  int64_t sharedHeads() const { return key.size(1); }
  int64_t sharedHead(int64_t head) const { return head * sharedHeads() / heads(); }
  /// The rows to compute, in the order of the results.
  std::vector<int64_t> chosenRows() const;
  /// Keys of a batch entry that exist.
  int64_t length(int64_t batch) const;
  /// Query `row` sees the keys below it.
  int64_t visibleEnd(int64_t batch, int64_t row) const;
  /// |i + N − n − j|.
  int64_t distance(int64_t row, int64_t key) const { return std::abs(row + keys() - queries() - key); }
};

/// s = scale · ⟨q, k⟩, then c · tanh(s / c), then s − slope_h · |i + N − n − j|.
struct Logits {
  Logits(double scale) : scale(scale) {}

  /// Of a product of query i and key j of a head, `distance` being |i + N − n − j|.
  double operator()(double product, int64_t head, int64_t distance) const;

  double scale;
  std::optional<double> softcap = {};
  std::optional<Array> slopes = {}; ///< [H]
};

struct SoftmaxResults {
  Array output; ///< [batch, H, R, dv]; a row that sees no key is 0
  Array lse;    ///< [batch, H, R]: log Σ exp(logit); −∞ for such a row
};

SoftmaxResults softmaxAttention(const AttentionInputs &inputs, const Logits &logits);

struct KernelOptions {
  FeatureMap map = {};
  double bias = 0, floor = 0;                                  ///< the denominator's guard
  std::optional<Array> initialState = {}, initialSum = {};     ///< [batch, G, m, dv], [batch, G, m]; with causal only. No sum: 0
  std::optional<Array> parameter = {};                         ///< what the map reads
  std::optional<Array> compressKey = {}, compressValue = {};   ///< [G or 1, k, N]: no normaliser then
  bool wantsState = false;                                     ///< whether the final state is asked for
  std::optional<Array> decay = {}; ///< logarithms of each head of φ(K), of each token or of each feature; with causal only
  bool divides = true;             ///< whether there is a denominator
  std::optional<Array> erase = {}, write = {}; ///< of each token, or of each feature and of each entry of a value; with causal only
  std::optional<Array> initialScale = {}; ///< [batch, G, m]: rows of the state are e to that times what it holds
  bool rescales = false;                  ///< whether the final state is to have such a scale; of favor where its stabilizer cancels
  std::optional<Array> position = {};     ///< [batch]: the place of the first token
};

struct KernelResults {
  Array output;               ///< [batch, H, R, dv]
  Array finalState, finalSum, finalScale; ///< [batch, G, m, dv], [batch, G, m] twice, if asked for
};

/// What is wrong with kernel attention of these inputs, beside AttentionInputs::problem.
std::string kernelProblem(const AttentionInputs &inputs, const KernelOptions &options);

KernelResults kernelAttention(const AttentionInputs &inputs, const KernelOptions &options);

/// Polynomial attention: weights (scale ⟨q, k⟩)^degree.
struct PowerOptions {
  int64_t degree = 2;
  double scale = 1, bias = 0, floor = 0;
  std::vector<Array> signs = {}, indices = {}; ///< of the sketch; none: the exact power
  int64_t size = 0;                  ///< r of the sketch
  std::optional<int64_t> localExact = {}; ///< the exact power inside diagonal blocks of that many tokens
  /// Of sketches, with causal: Σ S(k)_f S(k)_g [v 1] of the keys before these, e to the scale times what they hold.
  std::optional<Array> initialState = {}, initialSum = {}, initialScale = {}; ///< [batch, H, r², dv], [batch, H, r²], [batch, H]
  std::optional<Array> heldKey = {}, heldValue = {}; ///< [batch, G, b, …]: those of the block that position lies in, with `localExact`
  std::optional<Array> position = {};                ///< [batch]: the place of the first token
  bool wantsState = false;                           ///< whether the final state is asked for
};

struct SketchResults {
  Array output;                           ///< [batch, H, R, dv]
  Array finalState, finalSum, finalScale; ///< as the initial ones, if asked for
  Array finalKey, finalValue;
};

std::string powerProblem(const AttentionInputs &inputs, const PowerOptions &options);
Array powerAttention(const AttentionInputs &inputs, const PowerOptions &options);
/// The same of sketches without a window, in the order of its linear forms: one state, or causal a chunk at a time.
SketchResults sketchedByStates(const AttentionInputs &inputs, const PowerOptions &options);

/// What is wrong with the tree of a sketch to r entries of tokens with `width` entries of `heads` heads.
std::string sketchProblem(llvm::ArrayRef<Array> signs, llvm::ArrayRef<Array> indices, int64_t heads, int64_t width,
                          int64_t size);

/// What queries read, [batch, G, d, dv], and the logarithms of its sums, [batch, G, d], ∞ where no key exists.
struct EffattState {
  Array state, lse;
};
Array efficientAttention(const AttentionInputs &inputs, EffattState *left = nullptr);

std::string agentProblem(const AttentionInputs &inputs, int64_t agents);
Array agentAttention(const AttentionInputs &inputs, int64_t agents, double scale, Array *lse = nullptr);

struct EvaOptions {
  int64_t chunk = 1;
  std::optional<int64_t> local = {};
  double muWeight = 0.5, scale = 1;
  bool excludeLocal = false, mass = false;
};

std::string evaProblem(const AttentionInputs &inputs, const EvaOptions &options);
/// Where `lse` is given, also the logarithms of the sums of rows [batch, heads, n].
Array evaAttention(const AttentionInputs &inputs, const EvaOptions &options, Array *lse = nullptr);

/// numerator / max(denominator + bias, floor), 0 where that is exactly 0.
double guardedQuotient(double numerator, double denominator, double bias, double floor);

/// Indices `rows` of one dimension, copied.
Array selectRows(const Array &array, llvm::ArrayRef<int64_t> rows, int64_t dimension = 2);

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_ATTENTION_H
