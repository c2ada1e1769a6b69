//===- Product.cpp - A term as a sum of products ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     Σ_j (e_j / Σ_j' e_j') v_j,   (Σ_j e_j v_j) / Σ_j' e_j',   Σ_j e_j · (1 / Σ_j' e_j') · v_j,  …
//
// are one product of factors, some of them below the line; the reader collects them without asking in which op each
// stands.
//
//===----------------------------------------------------------------------===//
#include "Product.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace attune::raise;

/// Deeper than any product is written.
static constexpr unsigned deepest = 24;

bool attune::raise::isProduct(TermRef term) {
  return term->kind == Kind::Number || term->is(Function::Multiply) || term->is(Function::Divide) ||
         term->is(Function::Negate) || term->is(Function::Select);
}

void ProductReader::take(TermRef factor, bool below) {
  if (!below && isTable(factor))
    product.choices.emplace_back(factor, false);
  else
    (below ? product.under : product.over).push_back(factor);
}

void ProductReader::readElement(TermRef element, bool below) {
  TermRef inside = depth < deepest ? terms.expand(element) : nullptr;
  if (!inside || !follows(element, inside, below))
    return take(element, below);
  product.between.push_back(element);
  read(inside, below);
}

/// select(c, 0, x) or select(c, x, 0).
bool ProductReader::readChoice(TermRef select) {
  auto chosen = isMask(select->operands[0]) ? terms.besideZero(select) : std::nullopt;
  if (!chosen)
    return false;
  product.choices.emplace_back(select->operands[0], chosen->second);
  read(chosen->first);
  return true;
}

void ProductReader::read(TermRef term, bool below) {
  if (product.over.size() + product.under.size() > mostFactors)
    return;
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  if (std::optional<double> number = terms.constant(term)) {
    product.coefficient *= below ? 1 / *number : *number;
  } else if (term->is(Function::Multiply) || term->is(Function::Divide)) {
    read(term->operands[0], below);
    read(term->operands[1], below != term->is(Function::Divide));
  } else if (term->is(Function::Negate)) {
    product.coefficient = -product.coefficient;
    read(term->operands[0], below);
  } else if (term->kind == Kind::Sum && !summed && !below) {
    summed = true;
    product.outside = product.between.size();
    product.indices.append(term->indices.begin(), term->indices.end());
    read(term->operands[0]);
  } else if (term->kind == Kind::Element) {
    readElement(term, below);
  } else if (below || !term->is(Function::Select) || !readChoice(term)) {
    take(term, below);
  }
}
