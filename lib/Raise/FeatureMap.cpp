//===- FeatureMap.cpp - Which map a function of one entry is ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs write elu(x) + 1 and max(x, 0) in many ways, of comparisons, choices, exponentials. The formula is evaluated
// at many numbers. That decides, because no number but 0, 1 and −1 may stand in it: nothing can happen between two of
// the numbers that are tried.
//
//===----------------------------------------------------------------------===//
#include "Linear.h"

using namespace mlir;
using namespace attune::raise;
using attune::attn::FeatureKind;

/// More than any way of writing a map takes.
static constexpr unsigned deepest = 16;

static bool sameEntry(Terms &terms, TermRef a, TermRef b) {
  return a->value == b->value && a->at.size() == b->at.size() &&
         llvm::all_of(llvm::zip_equal(a->at, b->at), [&](auto pair) {
           return terms.simplify(std::get<0>(pair)) == terms.simplify(std::get<1>(pair));
         });
}

/// The formula where the entry is x; nothing if it depends on anything else.
static std::optional<double> evaluateAt(Terms &terms, TermRef term, TermRef entry, double x, unsigned depth = 0) {
  if (depth > deepest)
    return std::nullopt;
  if (term->kind == Kind::Number) {
    bool plain = term->number == 0 || term->number == 1 || term->number == -1;
    return plain ? std::optional(term->number) : std::nullopt;
  }
  if (term->kind == Kind::Element) {
    if (sameEntry(terms, behindReshapes(terms, term), entry))
      return x;
    TermRef inside = terms.expand(term);
    return inside ? evaluateAt(terms, inside, entry, x, depth + 1) : std::nullopt;
  }
  if (term->kind != Kind::Apply || term->function == Function::Other)
    return std::nullopt;
  SmallVector<double, 3> operands;
  for (TermRef operand : term->operands) {
    std::optional<double> value = evaluateAt(terms, operand, entry, x, depth + 1);
    if (!value)
      return std::nullopt;
    operands.push_back(*value);
  }
  return compute(term->function, operands);
}

static bool isMap(Terms &terms, TermRef term, TermRef entry, FeatureKind kind) {
  auto agrees = [&](double x) {
    double expected = kind == FeatureKind::Relu ? std::max(x, 0.0) : x > 0 ? x + 1 : std::exp(x);
    std::optional<double> value = evaluateAt(terms, term, entry, x);
    return value && std::abs(*value - expected) <= 1e-12 * std::max(1.0, std::abs(x));
  };
  for (int step = -128; step <= 128; ++step)
    if (!agrees(step / 16.0))
      return false;
  return llvm::all_of(ArrayRef<double>{-80, -40, -20, 20, 40, 80}, agrees);
}

/// The entries that the term is a function of, the outermost first.
static void collectEntries(Terms &terms, TermRef term, SmallVectorImpl<TermRef> &entries, unsigned depth = 0) {
  if (depth > deepest || entries.size() > deepest)
    return;
  if (term->kind == Kind::Element) {
    TermRef entry = behindReshapes(terms, term);
    if (llvm::none_of(entries, [&](TermRef seen) { return sameEntry(terms, seen, entry); }))
      entries.push_back(entry);
    term = terms.expand(entry);
  }
  if (term && term->kind == Kind::Apply)
    for (TermRef operand : term->operands)
      collectEntries(terms, operand, entries, depth + 1);
}

std::optional<MappedEntry> attune::raise::readFeatureMap(Terms &terms, TermRef factor) {
  SmallVector<TermRef> entries;
  collectEntries(terms, factor, entries);
  for (TermRef entry : entries)
    for (FeatureKind kind : {FeatureKind::Elu1, FeatureKind::Relu})
      if (isMap(terms, factor, entry, kind))
        return MappedEntry{entry, kind};
  return std::nullopt;
}
