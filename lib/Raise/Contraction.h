//===- Contraction.h - The factors of a product of matrices -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_CONTRACTION_H
#define ATTUNE_LIB_RAISE_CONTRACTION_H

#include "Match.h"
#include "Product.h"

namespace attune::raise {

/// Queries and keys, and the indices of keys and features.
struct Weights {
  TermRef query, key;
  llvm::SmallVector<unsigned> keys, features;
};

/// The term as a product, with its first sum, of factors that may be sums themselves.
Product readContraction(Terms &terms, TermRef term);
/// Calls `visit` with every order of the factors of the product, multiplied out until there are `count`.
bool anyOrder(Terms &terms, const Product &product, size_t count,
              llvm::function_ref<bool(const Product &, llvm::ArrayRef<TermRef>)> visit, unsigned depth = 0);
/// Matches the root with a contraction of three factors: `take` says whether it takes them in this order, and fills in
/// the rest of what is matched.
template <typename Match, typename Take>
bool matchContraction(Terms &terms, mlir::Value root, Match &match, Take take) {
  Product product = readContraction(terms, entryOf(terms, root, match));
  if (product.indices.empty())
    return false;
  return anyOrder(terms, product, 3, [&](const Product &out, llvm::ArrayRef<TermRef> factors) {
    Match tried = match;
    if (!take(out, factors, tried))
      return false;
    match = tried;
    return true;
  });
}
/// Indices of both factors are features; those of the keys alone are keys.
std::optional<Weights> weightsOf(Terms &terms, TermRef query, TermRef key, llvm::ArrayRef<unsigned> indices);
/// Whether the factor is an entry that has all the keys and no feature.
bool isValueOf(Terms &terms, TermRef factor, const Weights &weights);
/// The tensors between the product and the root that have an entry a query and key.
llvm::SmallVector<mlir::Value> tablesOf(Terms &terms, const Product &product, const Weights &weights,
                                        llvm::ArrayRef<unsigned> outputIndices);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_CONTRACTION_H
