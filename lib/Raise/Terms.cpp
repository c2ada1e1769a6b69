//===- Terms.cpp - Making and comparing terms ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune::raise;

/// Deeper than any attention is written, shallow enough to stop in programs that are something else.
static constexpr unsigned deepest = 64;

TermRef Terms::make(Term term) {
  terms.push_back(std::move(term));
  return &terms.back();
}

unsigned Terms::newIndex(int64_t extent) {
  extents.push_back(extent);
  return extents.size() - 1;
}

TermRef Terms::number(double value) {
  Term term(Kind::Number);
  term.number = value;
  return make(std::move(term));
}

TermRef Terms::place(AffineExpr at) {
  Term term(Kind::Place);
  term.at = {simplify(at)};
  return make(std::move(term));
}

TermRef Terms::scalar(Value value) {
  Term term(Kind::Scalar);
  term.value = value;
  return make(std::move(term));
}

TermRef Terms::element(Value tensor, ArrayRef<AffineExpr> at) {
  Term term(Kind::Element);
  term.value = tensor;
  for (AffineExpr expr : at)
    term.at.push_back(simplify(expr));
  return make(std::move(term));
}

TermRef Terms::apply(Function function, ArrayRef<TermRef> operands) {
  SmallVector<double> numbers;
  for (TermRef operand : operands)
    if (operand->kind == Kind::Number)
      numbers.push_back(operand->number);
  if (numbers.size() == operands.size())
    if (std::optional<double> value = compute(function, numbers))
      return number(*value);
  Term term(Kind::Apply, function);
  term.operands.assign(operands.begin(), operands.end());
  return make(std::move(term));
}

TermRef Terms::other(Operation *op, ArrayRef<TermRef> operands) {
  Term term(Kind::Apply, Function::Other);
  term.operands.assign(operands.begin(), operands.end());
  term.op = op;
  return make(std::move(term));
}

TermRef Terms::over(Kind kind, ArrayRef<unsigned> indices, TermRef body) {
  Term term(kind);
  term.indices.assign(indices.begin(), indices.end());
  term.operands = {body};
  return make(std::move(term));
}

TermRef Terms::expand(TermRef element) {
  if (element->kind != Kind::Element)
    return nullptr;
  auto [place, isNew] = expansions.try_emplace(element, nullptr);
  if (!isNew)
    return place->second;
  TermRef read = readElement(element);
  return expansions[element] = read;
}

TermRef Terms::value(TermRef term) {
  for (unsigned depth = 0; depth < deepest && term->kind == Kind::Element; ++depth) {
    TermRef next = expand(term);
    if (!next)
      break;
    term = next;
  }
  return term;
}

std::optional<std::pair<TermRef, bool>> Terms::besideZero(TermRef select) {
  for (unsigned zero : {1, 2})
    if (constant(select->operands[zero]) == 0.0)
      return std::pair(select->operands[3 - zero], zero == 1);
  return std::nullopt;
}

std::optional<double> Terms::constant(TermRef term) {
  term = value(term);
  if (term->kind == Kind::Number)
    return term->number;
  if (term->kind != Kind::Apply)
    return std::nullopt;
  SmallVector<double> operands;
  for (TermRef operand : term->operands) {
    std::optional<double> number = constant(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  return compute(term->function, operands);
}

bool Terms::dependsOn(TermRef term, unsigned index) {
  if (auto found = parts.find(index); found != parts.end())
    return dependsOn(term, found->second.first) || dependsOn(term, found->second.second);
  if (llvm::any_of(term->at, [&](AffineExpr expr) { return simplify(expr).isFunctionOfDim(index); })) {
    // A broadcast has the coordinate, and what it reads has not.
    TermRef inside = expand(term);
    return !inside || inside->kind != Kind::Element || dependsOn(inside, index);
  }
  return llvm::any_of(term->operands, [&](TermRef operand) { return dependsOn(operand, index); });
}

bool Terms::dependsOn(TermRef term, ArrayRef<unsigned> indices) {
  return llvm::any_of(indices, [&](unsigned index) { return dependsOn(term, index); });
}

bool Terms::same(TermRef a, TermRef b, DenseMap<unsigned, unsigned> renamed, unsigned depth) {
  if (depth > deepest)
    return false;
  auto rename = [&](AffineExpr expr) {
    SmallVector<AffineExpr> dims;
    for (unsigned index = 0; index < extents.size(); ++index)
      dims.push_back(this->expr(renamed.contains(index) ? renamed[index] : index));
    return simplify(simplify(expr).replaceDims(dims));
  };
  auto samePlaces = [&] {
    return a->at.size() == b->at.size() && llvm::all_of(llvm::zip_equal(a->at, b->at), [&](auto pair) {
             return rename(std::get<0>(pair)) == simplify(std::get<1>(pair));
           });
  };
  if (a->kind == Kind::Element && b->kind == Kind::Element && a->value == b->value && samePlaces())
    return true;
  TermRef inA = a->kind == Kind::Element ? expand(a) : nullptr, inB = b->kind == Kind::Element ? expand(b) : nullptr;
  if (inA || inB)
    return same(inA ? inA : a, inB ? inB : b, renamed, depth + 1);
  if (a->kind != b->kind || a->function != b->function || a->operands.size() != b->operands.size() ||
      a->indices.size() != b->indices.size() || a->value != b->value || a->number != b->number || a->op != b->op ||
      !samePlaces())
    return false;
  for (auto [fromA, fromB] : llvm::zip_equal(a->indices, b->indices)) {
    if (extents[fromA] != extents[fromB])
      return false;
    renamed[fromA] = fromB;
  }
  return llvm::all_of(llvm::zip_equal(a->operands, b->operands),
                      [&](auto pair) { return same(std::get<0>(pair), std::get<1>(pair), renamed, depth + 1); });
}
