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
// are a contraction of three factors over one of two of them.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"
#include "Contraction.h"

using namespace mlir;
using namespace attune::raise;

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
    for (auto [x, y] : llvm::zip_equal(from, to)) {
      if (terms.extent(x) != terms.extent(y))
        return false;
      renamed[x] = y;
    }
    return true;
  };
  return rename(a.keys, b.keys) && rename(a.features, b.features) && ofA.choices.size() == ofB.choices.size() &&
         terms.same(a.query, b.query, renamed) && terms.same(a.key, b.key, renamed) &&
         llvm::all_of(llvm::zip_equal(ofA.choices, ofB.choices), [&](auto pair) {
           auto &[x, y] = pair;
           return x.second == y.second && terms.same(x.first, y.first, renamed);
         });
}

/// Whether the divisor is the sum of the weights, with a guard.
static bool isDenominator(Terms &terms, TermRef divisor, const Weights &weights, const Product &numerator,
                          LinearMatch &match) {
  TermRef sum = withoutGuard(terms, divisor, match);
  Product product = readContraction(terms, sum);
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
  if (!weights || !isValueOf(terms, factors[2], *weights) || product.under.size() > 1)
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
  match.between = tablesOf(terms, product, *weights, match.indices);
  return true;
}

bool attune::raise::matchLinear(Terms &terms, Value root, LinearMatch &match, Refusal &refusal) {
  return matchContraction(terms, root, match, [&](const Product &product, ArrayRef<TermRef> factors, LinearMatch &tried) {
    return takeFactors(terms, product, factors, tried, refusal);
  });
}
