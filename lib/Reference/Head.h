//===- Head.h - One query head of one batch entry ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_HEAD_H
#define ATTUNE_LIB_REFERENCE_HEAD_H

#include "Matrix.h"

#include "attune/Reference/Attention.h"

namespace attune::reference {

/// The tokens of each block of a window, ascending; without a window one block of all.
class Blocks {
public:
  Blocks(const std::optional<Window> &window, int64_t tokens);

  int64_t count() const { return length == 0 ? 1 : (static_cast<int64_t>(tokens.size()) + length - 1) / length; }
  /// The last one may be shorter.
  llvm::ArrayRef<int64_t> operator[](int64_t block) const {
    return llvm::ArrayRef(tokens).drop_front(block * length).take_front(length);
  }
  /// The block of a query.
  int64_t blockOf(int64_t token) const;

private:
  std::optional<Window> window;
  int64_t length;
  std::vector<int64_t> tokens; ///< block after block
};

/// What a mechanism is given of one query head. Rows of keys and values that do not exist are 0.
struct Head {
  const AttentionInputs &inputs;
  const Blocks &blocks;
  const std::vector<int64_t> &rows; ///< the chosen rows
  int64_t batch, head;
  Matrix query, key, value; ///< [R, d], [N, d], [N, dv]

  int64_t length() const { return inputs.length(batch); }
  int64_t valueWidth() const { return value.width(); }
  /// The keys that a query sees, ascending.
  llvm::ArrayRef<int64_t> keysOf(int64_t row) const;
};

/// Calls `visit(head, r)`-style code on every head: `visit(const Head &)`; heads in order of batch and head.
template <typename Visit> void forEachHead(const AttentionInputs &inputs, Visit visit) {
  std::vector<int64_t> rows = inputs.chosenRows();
  Blocks blocks(inputs.window, inputs.keys());
  for (int64_t b = 0; b < inputs.batch(); ++b)
    for (int64_t h = 0; h < inputs.heads(); ++h) {
      int64_t g = inputs.sharedHead(h), length = inputs.length(b);
      Matrix query(static_cast<int64_t>(rows.size()), inputs.query.size(3));
      for (size_t r = 0; r < rows.size(); ++r)
        copyRow(inputs.query, b, h, inputs.tokens ? r : rows[r], query[r]);
      visit(Head{inputs, blocks, rows, b, h, std::move(query), headOf(inputs.key, b, g, length),
                 headOf(inputs.value, b, g, length)});
    }
}

/// An output [batch, H, R, dv] of zeros.
Array outputOf(const AttentionInputs &inputs);

/// Exact attention of one row over the keys of a head with these indices: the weighted values are added to `output`,
/// which is 0 before, and log Σ exp(logit) is returned.
double softmaxRow(const double *query, const Matrix &keys, const Matrix &values, llvm::ArrayRef<int64_t> visible,
                  llvm::function_ref<double(double product, int64_t key)> logit, double *output);
double softmaxRow(const double *query, const Matrix &keys, const Matrix &values, llvm::ArrayRef<int64_t> visible,
                  double scale, double *output);

/// weights ← softmax(weights); all 0 if all are −∞ or there is none. Returns log Σ exp.
double softmaxInPlace(llvm::MutableArrayRef<double> weights);

/// The exact form of favor whose stabilizers cancel: from logarithms of features, with one maximum per feature, so that
/// nothing underflows. `shared` is the head's state.
void favorAttention(const Head &head, const HeadMap &map, const KernelOptions &options, int64_t shared, const KernelResults &results);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_HEAD_H
