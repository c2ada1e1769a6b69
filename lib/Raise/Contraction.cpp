//===- Contraction.cpp - The factors of a product of matrices --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Σ_d a_d (Σ_j b_jd v_j),     Σ_j (Σ_d a_d b_jd) v_j,     …
//
// are one product of three factors, summed over features d and keys j. Which index is which, and which factor, follows
// from who depends on what.
//
//===----------------------------------------------------------------------===//
#include "Contraction.h"

using namespace mlir;
using namespace attune::raise;

namespace {
class ContractionReader : public ProductReader {
public:
  using ProductReader::ProductReader;

private:
  /// Divisors are compared as they are.
  bool follows(TermRef element, TermRef inside, bool below) override {
    bool follow = isProduct(inside) || inside->kind == Kind::Element || (inside->kind == Kind::Sum && !summed);
    return follow && !below && !isTable(element) && (!inside->is(Function::Select) || isMask(inside->operands[0]));
  }
  bool isMask(TermRef condition) override { return isTable(condition); }
  /// Whether the factor is known when the program is compiled.
  bool isTable(TermRef factor) override {
    Terms::Unknown unknown;
    return terms.evaluate(factor, SmallVector<int64_t>(terms.indexCount(), 0), unknown).has_value();
  }
};
} // namespace

Product attune::raise::readContraction(Terms &terms, TermRef term) {
  Product product;
  ContractionReader(terms, product).read(term);
  return product;
}

/// The product with one of its factors, a sum, multiplied out.
static std::optional<Product> multipliedOut(Terms &terms, const Product &product, size_t factor) {
  Product result = product;
  result.over.erase(result.over.begin() + factor);
  size_t indices = result.indices.size();
  ContractionReader(terms, result).read(product.over[factor]);
  if (result.indices.size() == indices)
    return std::nullopt;
  // The same sum twice would be a square.
  llvm::SmallDenseSet<unsigned> seen(result.indices.begin(), result.indices.end());
  return seen.size() == result.indices.size() ? std::optional(result) : std::nullopt;
}

/// Whether the term has all of these indices, or none.
static std::optional<bool> hasAll(Terms &terms, TermRef term, ArrayRef<unsigned> indices) {
  size_t count = llvm::count_if(indices, [&](unsigned index) { return terms.dependsOn(term, index); });
  return count == 0 ? std::optional(false) : count == indices.size() ? std::optional(true) : std::nullopt;
}

std::optional<Weights> attune::raise::weightsOf(Terms &terms, TermRef query, TermRef key, ArrayRef<unsigned> indices) {
  Weights weights{query, key, {}, {}};
  for (unsigned index : indices)
    (terms.dependsOn(query, index) ? weights.features : weights.keys).push_back(index);
  bool complete = !weights.keys.empty() && !weights.features.empty() &&
                  hasAll(terms, key, indices) == std::optional(true) && hasAll(terms, query, weights.keys) == false;
  return complete ? std::optional(weights) : std::nullopt;
}

bool attune::raise::isValueOf(Terms &terms, TermRef factor, const Weights &weights) {
  return factor->kind == Kind::Element && hasAll(terms, factor, weights.keys) == std::optional(true) &&
         hasAll(terms, factor, weights.features) == std::optional(false);
}

SmallVector<Value> attune::raise::tablesOf(Terms &terms, const Product &product, const Weights &weights,
                                           ArrayRef<unsigned> outputIndices) {
  SmallVector<Value> tables;
  for (TermRef tensor : product.between)
    if (terms.dependsOn(tensor, weights.keys) && !terms.dependsOn(tensor, weights.features) &&
        terms.dependsOn(tensor, outputIndices))
      tables.push_back(tensor->value);
  return tables;
}

bool attune::raise::anyOrder(Terms &terms, const Product &product, size_t count,
                             function_ref<bool(const Product &, ArrayRef<TermRef>)> visit, unsigned depth) {
  if (product.over.size() == count && count > 1) {
    auto order = llvm::to_vector(llvm::seq<size_t>(0, count));
    do {
      SmallVector<TermRef> factors;
      for (size_t place : order)
        factors.push_back(product.over[place]);
      if (visit(product, factors))
        return true;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (depth == 2 || product.over.size() > count)
    return false;
  for (size_t factor = 0; factor < product.over.size(); ++factor)
    if (std::optional<Product> out = multipliedOut(terms, product, factor))
      if (anyOrder(terms, *out, count, visit, depth + 1))
        return true;
  return false;
}
