//===- Match.h - Attention found in terms -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_MATCH_H
#define ATTUNE_LIB_RAISE_MATCH_H

#include "Terms.h"

namespace attune::raise {

/// Why something that looks like attention is not raised, and where. Empty while nothing looks like attention.
struct Refusal {
  std::string reason;
  mlir::Value at;
  /// Says so unless an earlier reason stands; returns false.
  bool because(std::string text, mlir::Value place = {}) {
    if (reason.empty())
      reason = std::move(text), at = place;
    return false;
  }
};

/// scale · ⟨q, k⟩ + masks.
struct Logits {
  double scale = 1;
  TermRef query = nullptr, key = nullptr;
  llvm::SmallVector<TermRef> masks;
};

/// softmax_j(logits) · value, as entries of `root`.
struct SoftmaxMatch {
  mlir::Value root;
  /// An index a dimension of root.
  llvm::SmallVector<unsigned> indices;
  llvm::SmallVector<unsigned> keys;
  Logits logits;
  TermRef value = nullptr;
  /// The tensors between the product and the output that have an entry a query and key.
  llvm::SmallVector<mlir::Value> between;
};

/// Which keys a query sees, in the words of attn.
struct Visibility {
  bool causal = false;
  /// Tokens of a block; 0: no blocks.
  int64_t window = 0;
  /// Keys that exist; −1: all.
  int64_t length = -1;
  /// Or numbers of keys that are an input, and the index of the batch that counts them.
  mlir::Value lengths;
  std::optional<unsigned> batch;
  /// The index of the query that a mask depends on, if one does.
  std::optional<unsigned> query;
};

bool matchSoftmax(Terms &terms, mlir::Value root, SoftmaxMatch &match, Refusal &refusal);
/// The same for softmax over the features of q and over the keys of k: logits are entries of q and k, without a scale.
bool matchEfficient(Terms &terms, mlir::Value root, SoftmaxMatch &match, Refusal &refusal);
bool readLogits(Terms &terms, TermRef term, SoftmaxMatch &match, Refusal &refusal);
/// Takes a mask that hides the keys from an input's number on; false if it is another mask.
bool readLengths(Terms &terms, TermRef mask, const SoftmaxMatch &match, Visibility &visibility);
bool readMasks(Terms &terms, const SoftmaxMatch &match, Visibility &visibility, Refusal &refusal);
/// The op in place of the root, between reshapes and transposes; null if the dimensions play no roles that attn knows.
mlir::Value buildSoftmax(mlir::OpBuilder &builder, Terms &terms, const SoftmaxMatch &match,
                         const Visibility &visibility, Refusal &refusal);

mlir::Value buildEfficient(mlir::OpBuilder &builder, Terms &terms, const SoftmaxMatch &match,
                           const Visibility &visibility, Refusal &refusal);

/// Whether `sum` adds up `body` over these indices, whatever it calls them.
bool isSumOver(Terms &terms, TermRef sum, TermRef body, llvm::ArrayRef<unsigned> indices);
/// The numbers of keys as attn takes them: i32, of keys that are there.
mlir::Value buildLengths(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lengths, int64_t keys);
/// An entry of `root`, the root of the match, at indices that the match names.
TermRef entryOf(Terms &terms, mlir::Value root, SoftmaxMatch &match);
/// The tensor behind casts and changes of shape, slices excepted: a slice is an operand as it is.
TermRef behindReshapes(Terms &terms, TermRef element);

/// The indices of each dimension, outermost first; none of a unit dimension.
using Grouping = llvm::SmallVector<llvm::SmallVector<unsigned, 2>>;
mlir::Value rearrange(mlir::OpBuilder &builder, mlir::Location loc, const Terms &terms, mlir::Value tensor,
                      const Grouping &from, const Grouping &to);
std::optional<Grouping> groupingOf(Terms &terms, llvm::ArrayRef<mlir::AffineExpr> at, llvm::ArrayRef<int64_t> shape);

/// A number of this or less, added to a logit, hides the key: its weight is 0 in f32 unless all logits are as low.
inline constexpr double hides = -1e4;

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_MATCH_H
