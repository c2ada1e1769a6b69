//===- Efficient.cpp - Efficient attention, found in a formula ---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Σ_f (e^q_if / Σ_f' e^q_if') Σ_j (e^k_jf / Σ_j' e^k_j'f) v_j
//
// in either order of the products, with a maximum in the exponents or without: a contraction of three factors over two
// sums.
//
//===----------------------------------------------------------------------===//
#include "Contraction.h"
#include "Match.h"

#include "attune/Attn/Attn.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

/// x of e^x or e^(x − m), where m does not change with the indices that are summed over.
static TermRef exponentOf(Terms &terms, TermRef exponential, ArrayRef<unsigned> summed) {
  TermRef term = exponential->operands[0];
  while (true) {
    TermRef inside = term->kind == Kind::Element ? terms.expand(term) : term;
    if (inside && inside->is(Function::Subtract) && !terms.dependsOn(terms.value(inside->operands[1]), summed))
      term = inside->operands[0];
    else if (inside && inside != term && inside->kind == Kind::Element)
      term = inside;
    else
      return term;
  }
}

/// The entries that one of the divisors makes a distribution over the indices; takes the divisor.
static TermRef distributed(Terms &terms, TermRef factor, ArrayRef<unsigned> summed,
                           SmallVectorImpl<TermRef> &divisors) {
  TermRef exponential = terms.value(factor);
  if (!exponential->is(Function::Exp))
    return nullptr;
  auto sum = llvm::find_if(divisors, [&](TermRef divisor) { return isSumOver(terms, divisor, exponential, summed); });
  if (sum == divisors.end())
    return nullptr;
  divisors.erase(sum);
  TermRef entry = exponentOf(terms, exponential, summed);
  return entry->kind == Kind::Element ? behindReshapes(terms, entry) : nullptr;
}

/// Keys that a choice by their places puts to a very low number do not exist; the entry without the choice.
static TermRef withoutHidden(Terms &terms, TermRef key, const Weights &weights, SoftmaxMatch &match) {
  TermRef choice = terms.value(key);
  for (unsigned hidden : {1, 2}) {
    std::optional<double> fill = choice->is(Function::Select) ? terms.constant(choice->operands[hidden]) : std::nullopt;
    if (!fill || *fill > hides || terms.dependsOn(choice->operands[0], weights.features))
      continue;
    TermRef here = terms.number(10 * hides), seen = terms.number(0);
    match.logits.masks.push_back(
        terms.apply(Function::Select, {choice->operands[0], hidden == 1 ? here : seen, hidden == 1 ? seen : here}));
    TermRef entry = choice->operands[3 - hidden];
    return entry->kind == Kind::Element ? behindReshapes(terms, entry) : key;
  }
  return key;
}

static bool takeFactors(Terms &terms, const Product &product, ArrayRef<TermRef> factors, SoftmaxMatch &match,
                        Refusal &refusal) {
  std::optional<Weights> weights = weightsOf(terms, factors[0], factors[1], product.indices);
  if (!weights || product.under.size() != 2 || !isValueOf(terms, factors[2], *weights))
    return false;
  SmallVector<TermRef> divisors = product.under;
  TermRef query = distributed(terms, factors[0], weights->features, divisors);
  TermRef key = query ? distributed(terms, factors[1], weights->keys, divisors) : nullptr;
  if (!key)
    return false;
  if (!product.choices.empty())
    return refusal.because("expected a mask of the keys before their exponentials, but got weights that are made 0",
                           match.root);
  if (product.coefficient != 1)
    return refusal.because("expected weights that add up to 1, but got them multiplied by a constant; multiply the "
                           "values by it instead",
                           match.root);
  match.logits.query = query, match.logits.key = withoutHidden(terms, key, *weights, match);
  match.value = behindReshapes(terms, factors[2]);
  match.keys = weights->keys;
  match.between = tablesOf(terms, product, *weights, match.indices);
  return true;
}

bool attune::raise::matchEfficient(Terms &terms, Value root, SoftmaxMatch &match, Refusal &refusal) {
  return matchContraction(terms, root, match, [&](const Product &product, ArrayRef<TermRef> factors, SoftmaxMatch &tried) {
    return takeFactors(terms, product, factors, tried, refusal);
  });
}
