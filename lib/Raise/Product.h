//===- Product.h - A term as a sum of products -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_PRODUCT_H
#define ATTUNE_LIB_RAISE_PRODUCT_H

#include "Terms.h"

namespace attune::raise {

/// Σ_indices Π over / Π under · coefficient, 0 where a choice says so.
struct Product {
  double coefficient = 1;
  llvm::SmallVector<TermRef> over, under;
  llvm::SmallVector<unsigned> indices;
  /// Conditions, and what they are where the product is 0; a factor of 0 and 1 known beforehand is one, too.
  llvm::SmallVector<std::pair<TermRef, bool>> choices;
  /// The entries that were read into; the first `outside` of them before the sum.
  llvm::SmallVector<TermRef> between;
  size_t outside = 0;
};

/// Multiplies terms into a product, with the first sum that they are. What is looked for says which entries of tensors
/// are read as what they are computed from, and which are factors.
class ProductReader {
public:
  ProductReader(Terms &terms, Product &product) : terms(terms), product(product) {}
  virtual ~ProductReader() = default;
  void read(TermRef term, bool below = false);

protected:
  virtual bool follows(TermRef element, TermRef inside, bool below) = 0;
  /// Whether a choice by this condition, beside 0, is a mask.
  virtual bool isMask(TermRef condition) = 0;
  /// Whether the factor is a mask.
  virtual bool isTable(TermRef) { return false; }

  Terms &terms;
  Product &product;
  bool summed = false;

private:
  void readElement(TermRef element, bool below);
  bool readChoice(TermRef select);
  void take(TermRef factor, bool below);
  unsigned depth = 0;
};

/// Whether the term is a product, or chosen beside one.
bool isProduct(TermRef term);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_PRODUCT_H
