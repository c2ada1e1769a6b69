//===- Linear.cpp - Linear attention, found in a formula -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Σ_d a_d (Σ_j b_jd v_j) / Σ_d a_d (Σ_j b_jd),     Σ_j (Σ_d a_d b_jd) v_j / Σ_j Σ_d a_d b_jd,     …
//
// are one product of three factors over one of two, summed over features d and keys j. Which index is which, and which
// factor, follows from who depends on what.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attune::raise;

namespace {
/// Σ_indices Π over / Π under · coefficient, 0 where a choice says so.
struct Product {
  double coefficient = 1;
  SmallVector<TermRef> over, under;
  SmallVector<unsigned> indices;
  SmallVector<std::pair<TermRef, bool>> choices;
  SmallVector<TermRef> between;
};

/// Multiplies terms into a product, with the first sum that they are.
class Collector {
public:
  Collector(Terms &terms, Product &product, bool sums) : terms(terms), product(product), sums(sums) {}
  void collect(TermRef term, bool below = false);

private:
  bool collectChoice(TermRef select);
  bool isTable(TermRef term);
  Terms &terms;
  Product &product;
  bool sums;
  unsigned depth = 0;
};
} // namespace

static bool isProduct(TermRef term) {
  return term->kind == Kind::Number || term->kind == Kind::Element || term->is(Function::Multiply) ||
         term->is(Function::Divide) || term->is(Function::Negate) || term->is(Function::Select);
}

/// Whether the term is known when the program is compiled.
bool Collector::isTable(TermRef term) {
  Terms::Unknown unknown;
  return terms.evaluate(term, SmallVector<int64_t>(terms.indexCount(), 0), unknown).has_value();
}

/// A mask: select(c, 0, x) or select(c, x, 0) of a condition of places alone.
bool Collector::collectChoice(TermRef select) {
  auto chosen = isTable(select->operands[0]) ? terms.besideZero(select) : std::nullopt;
  if (!chosen)
    return false;
  product.choices.emplace_back(select->operands[0], chosen->second);
  collect(chosen->first);
  return true;
}

void Collector::collect(TermRef term, bool below) {
  if (product.over.size() + product.under.size() > mostFactors)
    return;
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  std::optional<double> number = terms.constant(term);
  if (number) {
    product.coefficient *= below ? 1 / *number : *number;
  } else if (term->is(Function::Multiply) || term->is(Function::Divide)) {
    collect(term->operands[0], below);
    collect(term->operands[1], below != term->is(Function::Divide));
  } else if (term->is(Function::Negate)) {
    product.coefficient = -product.coefficient, collect(term->operands[0], below);
  } else if (term->kind == Kind::Sum && sums && !below) {
    sums = false;
    product.indices.append(term->indices.begin(), term->indices.end());
    collect(term->operands[0]);
  } else if (term->is(Function::Select) && !below && collectChoice(term)) {
    return;
  } else if (!below && depth < 24 && term->kind == Kind::Element && !isTable(term)) {
    TermRef inside = terms.expand(term);
    bool follow = inside && (isProduct(inside) || (inside->kind == Kind::Sum && sums));
    if (follow && inside->is(Function::Select))
      follow = isTable(inside->operands[0]);
    if (!follow)
      return product.over.push_back(term);
    product.between.push_back(term);
    collect(inside);
  } else if (!below && isTable(term)) {
    product.choices.emplace_back(term, false);
  } else {
    (below ? product.under : product.over).push_back(term);
  }
}

/// The product with one of its factors, a sum, multiplied out.
static std::optional<Product> multipliedOut(Terms &terms, const Product &product, size_t factor) {
  Product result = product;
  result.over.erase(result.over.begin() + factor);
  size_t indices = result.indices.size();
  Collector(terms, result, /*sums=*/true).collect(product.over[factor]);
  if (result.indices.size() == indices)
    return std::nullopt;
  // The same sum twice would be a square.
  llvm::SmallDenseSet<unsigned> seen(result.indices.begin(), result.indices.end());
  return seen.size() == result.indices.size() ? std::optional(result) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Roles of factors
//===----------------------------------------------------------------------===//

namespace {
/// Queries and keys, and the indices of keys and features.
struct Weights {
  TermRef query, key;
  SmallVector<unsigned> keys, features;
};
} // namespace

/// Whether the term has all of these indices, or none.
static std::optional<bool> hasAll(Terms &terms, TermRef term, ArrayRef<unsigned> indices) {
  size_t count = llvm::count_if(indices, [&](unsigned index) { return terms.dependsOn(term, index); });
  return count == 0 ? std::optional(false) : count == indices.size() ? std::optional(true) : std::nullopt;
}

/// Indices of both factors are features; those of the keys alone are keys.
static std::optional<Weights> weightsOf(Terms &terms, TermRef query, TermRef key, ArrayRef<unsigned> indices) {
  Weights weights{query, key, {}, {}};
  for (unsigned index : indices)
    (terms.dependsOn(query, index) ? weights.features : weights.keys).push_back(index);
  bool complete = !weights.keys.empty() && !weights.features.empty() &&
                  hasAll(terms, key, indices) == std::optional(true) && hasAll(terms, query, weights.keys) == false;
  return complete ? std::optional(weights) : std::nullopt;
}

/// Calls `visit` with every order of the factors of the product, multiplied out as often as it takes.
static bool anyOrder(Terms &terms, const Product &product, size_t count,
                     function_ref<bool(const Product &, ArrayRef<TermRef>)> visit, unsigned depth = 0) {
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

//===----------------------------------------------------------------------===//
// The denominator
//===----------------------------------------------------------------------===//

/// max(x + bias, floor) → x.
static TermRef withoutGuard(Terms &terms, TermRef term, LinearMatch &match) {
  term = terms.value(term);
  for (auto [function, guard] : {std::pair(Function::Max, &match.floor), std::pair(Function::Add, &match.bias)}) {
    if (!term->is(function))
      continue;
    for (unsigned side : {0, 1})
      if (std::optional<double> number = terms.constant(term->operands[side]); number && *number >= 0) {
        *guard = *number, term = terms.value(term->operands[1 - side]);
        break;
      }
  }
  return term;
}

static bool sameWeights(Terms &terms, const Weights &a, const Product &ofA, const Weights &b, const Product &ofB) {
  DenseMap<unsigned, unsigned> renamed;
  auto rename = [&](ArrayRef<unsigned> from, ArrayRef<unsigned> to) {
    if (from.size() != to.size())
      return false;
    for (auto [x, y] : llvm::zip(from, to)) {
      if (terms.extent(x) != terms.extent(y))
        return false;
      renamed[x] = y;
    }
    return true;
  };
  return rename(a.keys, b.keys) && rename(a.features, b.features) && ofA.choices.size() == ofB.choices.size() &&
         terms.same(a.query, b.query, renamed) && terms.same(a.key, b.key, renamed) &&
         llvm::all_of(llvm::zip(ofA.choices, ofB.choices), [&](auto pair) {
           auto &[x, y] = pair;
           return x.second == y.second && terms.same(x.first, y.first, renamed);
         });
}

/// Whether the divisor is the sum of the weights, with a guard.
static bool isDenominator(Terms &terms, TermRef divisor, const Weights &weights, const Product &numerator,
                          LinearMatch &match) {
  TermRef sum = withoutGuard(terms, divisor, match);
  Product product;
  Collector(terms, product, /*sums=*/true).collect(sum);
  return anyOrder(terms, product, 2, [&](const Product &out, ArrayRef<TermRef> factors) {
    std::optional<Weights> own = weightsOf(terms, factors[0], factors[1], out.indices);
    return own && out.coefficient == 1 && out.under.empty() && sameWeights(terms, *own, out, weights, numerator);
  });
}

//===----------------------------------------------------------------------===//
// The match
//===----------------------------------------------------------------------===//

/// Hidden where a choice says so; a table of other numbers than 0 and 1 is a bias, which the reader of masks refuses.
static TermRef maskOf(Terms &terms, std::pair<TermRef, bool> choice) {
  auto [table, zeroWhen] = choice;
  TermRef hidden = terms.number(10 * hides), zero = terms.number(0);
  if (zeroWhen)
    return terms.apply(Function::Select, {table, hidden, zero});
  TermRef other =
      terms.apply(Function::Select, {terms.apply(Function::Equal, {table, terms.number(1)}), zero, terms.number(0.5)});
  return terms.apply(Function::Select, {terms.apply(Function::Equal, {table, zero}), hidden, other});
}

static bool takeFactors(Terms &terms, const Product &product, ArrayRef<TermRef> factors, LinearMatch &match,
                        Refusal &refusal) {
  std::optional<Weights> weights = weightsOf(terms, factors[0], factors[1], product.indices);
  bool isValue = weights && factors[2]->kind == Kind::Element &&
                 hasAll(terms, factors[2], weights->keys) == std::optional(true) &&
                 hasAll(terms, factors[2], weights->features) == std::optional(false);
  if (!isValue || product.under.size() > 1)
    return false;
  match.normalised = !product.under.empty();
  if (match.normalised && !isDenominator(terms, product.under[0], *weights, product, match))
    return false;
  std::optional<MappedEntry> query = readFeatureMap(terms, factors[0]), key = readFeatureMap(terms, factors[1]);
  bool mapped = query && key && query->kind == key->kind;
  // Three factors without a divisor may be any product of matrices.
  if (!mapped)
    return match.normalised && refusal.because("expected elu + 1 or relu as the feature map of queries and keys, but "
                                               "got another function",
                                               match.root);
  if (product.coefficient != 1)
    return refusal.because("expected weights that are products of features, but got them multiplied by a constant",
                           match.root);
  match.map = query->kind, match.logits.query = query->entry, match.logits.key = key->entry;
  match.value = behindReshapes(terms, factors[2]);
  match.keys = weights->keys;
  for (auto choice : product.choices)
    match.logits.masks.push_back(maskOf(terms, choice));
  for (TermRef tensor : product.between)
    if (terms.dependsOn(tensor, weights->keys) && !terms.dependsOn(tensor, weights->features) &&
        terms.dependsOn(tensor, match.indices))
      match.between.push_back(tensor->value);
  return true;
}

bool attune::raise::matchLinear(Terms &terms, Value root, LinearMatch &match, Refusal &refusal) {
  match.root = root;
  SmallVector<AffineExpr> at;
  for (int64_t size : cast<RankedTensorType>(root.getType()).getShape()) {
    match.indices.push_back(terms.newIndex(size));
    at.push_back(terms.expr(match.indices.back()));
  }
  Product product;
  Collector(terms, product, /*sums=*/true).collect(terms.element(root, at));
  if (product.indices.empty())
    return false;
  return anyOrder(terms, product, 3, [&](const Product &out, ArrayRef<TermRef> factors) {
    LinearMatch tried = match;
    if (!takeFactors(terms, out, factors, tried, refusal))
      return false;
    match = tried;
    return true;
  });
}
