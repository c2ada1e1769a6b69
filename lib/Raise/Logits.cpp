//===- Logits.cpp - scale * <q, k> + masks, found in a formula ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Match.h"

#include "mlir/Interfaces/CallInterfaces.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune::raise;

namespace {
class LogitsReader {
public:
  LogitsReader(Terms &terms, SoftmaxMatch &match, Refusal &refusal) : terms(terms), match(match), refusal(refusal) {}
  /// Reads factor · term as a part of the logits.
  bool read(TermRef term, double factor);

private:
  bool readSum(TermRef sum, double factor);
  bool readSummands(TermRef a, TermRef b, bool subtracted, double factor);
  bool readProduct(TermRef a, TermRef b, bool divided, double factor);
  bool readChoice(TermRef select, double factor);
  bool readFactor(TermRef term, SmallVectorImpl<TermRef> &factors, double &scale);
  bool hasProduct(TermRef term, unsigned depth);
  Terms &terms;
  SoftmaxMatch &match;
  Refusal &refusal;
  Value place;
};
} // namespace

/// Whether a sum stands somewhere behind the term.
bool LogitsReader::hasProduct(TermRef term, unsigned depth) {
  if (term->kind == Kind::Sum)
    return true;
  if (depth == 0)
    return false;
  if (term->kind == Kind::Element) {
    TermRef inside = terms.expand(term);
    return inside && hasProduct(inside, depth - 1);
  }
  return llvm::any_of(term->operands, [&](TermRef operand) { return hasProduct(operand, depth - 1); });
}

bool LogitsReader::readSummands(TermRef a, TermRef b, bool subtracted, double factor) {
  bool inA = hasProduct(a, 14), inB = hasProduct(b, 14);
  if (inA && inB)
    return refusal.because("expected logits of one product of queries and keys, but got a sum of two", place);
  if (!inA && (subtracted || !inB))
    return refusal.because("expected logits that are a product of queries and keys, but got a sum without one", place);
  match.logits.masks.push_back(
      terms.apply(Function::Multiply, {terms.number(subtracted ? -factor : factor), inA ? b : a}));
  return read(inA ? a : b, factor);
}

bool LogitsReader::readProduct(TermRef a, TermRef b, bool divided, double factor) {
  std::optional<double> inA = divided ? std::nullopt : terms.constant(a), inB = terms.constant(b);
  if (inB)
    return read(a, divided ? factor / *inB : factor * *inB);
  if (inA)
    return read(b, factor * *inA);
  return refusal.because(
      "expected a constant scale of the logits, but got one that is known only when the program runs", place);
}

/// select(visible, logits, fill).
bool LogitsReader::readChoice(TermRef select, double factor) {
  std::optional<double> then = terms.constant(select->operands[1]), otherwise = terms.constant(select->operands[2]);
  if (then.has_value() == otherwise.has_value())
    return refusal.because("expected a choice between logits and a constant, but got another", place);
  double fill = factor * (then ? *then : *otherwise);
  if (!(fill <= hides))
    return refusal.because(llvm::formatv("expected hidden logits of -10000 or less, but got {0}", textOf(fill)), place);
  TermRef zero = terms.number(0), hidden = terms.number(fill);
  match.logits.masks.push_back(
      terms.apply(Function::Select, {select->operands[0], then ? hidden : zero, then ? zero : hidden}));
  return read(select->operands[then ? 2 : 1], factor);
}

/// A factor of ⟨q, k⟩ without its constants, behind casts and changes of its shape.
bool LogitsReader::readFactor(TermRef term, SmallVectorImpl<TermRef> &factors, double &scale) {
  if (std::optional<double> number = terms.constant(term)) {
    scale *= *number;
    return true;
  }
  if (term->is(Function::Multiply))
    return readFactor(term->operands[0], factors, scale) && readFactor(term->operands[1], factors, scale);
  if (term->kind != Kind::Element)
    return refusal.because("expected a product of queries and keys, but got a product with a function of them", place);
  while (true) {
    TermRef inside =
        isa_and_nonnull<tensor::ExtractSliceOp>(term->value.getDefiningOp()) ? nullptr : terms.expand(term);
    bool divided = inside && inside->is(Function::Divide);
    if (divided || (inside && inside->is(Function::Multiply))) {
      std::optional<double> a = divided ? std::nullopt : terms.constant(inside->operands[0]),
                            b = terms.constant(inside->operands[1]);
      scale *= b ? (divided ? 1 / *b : *b) : a.value_or(1);
      inside = b ? inside->operands[0] : a ? inside->operands[1] : nullptr;
    }
    if (!inside || inside->kind != Kind::Element)
      break;
    term = inside;
  }
  factors.push_back(term);
  return true;
}

bool LogitsReader::readSum(TermRef sum, double factor) {
  SmallVector<TermRef> factors;
  if (!readFactor(sum->operands[0], factors, factor))
    return false;
  if (factors.size() != 2)
    return refusal.because(llvm::formatv("expected a product of queries and keys, but got {0} factors", factors.size()),
                           place);
  bool first = terms.dependsOn(factors[0], match.keys), second = terms.dependsOn(factors[1], match.keys);
  if (first == second)
    return refusal.because("expected softmax over the dimension of the keys, but got logits in which "
                           "not exactly one factor has it",
                           place);
  match.logits.query = factors[first ? 1 : 0], match.logits.key = factors[first ? 0 : 1];
  match.logits.scale *= factor;
  return true;
}

bool LogitsReader::read(TermRef term, double factor) {
  if (term->kind == Kind::Element) {
    TermRef inside = terms.expand(term);
    if (!inside)
      return refusal.because(isa_and_nonnull<CallOpInterface>(term->value.getDefiningOp())
                                 ? "expected logits that are a product of queries and keys, but got the result of a "
                                   "call; inline it first"
                             : term->value.getDefiningOp()
                                 ? "expected logits that are a product of queries and keys, but got a tensor whose op "
                                   "is not read"
                                 : "expected logits that are a product of queries and keys, but got an input of the "
                                   "function",
                             term->value);
    match.between.push_back(term->value);
    place = term->value;
    return read(inside, factor);
  }
  if (term->kind == Kind::Sum)
    return readSum(term, factor);
  if (term->is(Function::Add) || term->is(Function::Subtract))
    return readSummands(term->operands[0], term->operands[1], term->is(Function::Subtract), factor);
  if (term->is(Function::Multiply) || term->is(Function::Divide))
    return readProduct(term->operands[0], term->operands[1], term->is(Function::Divide), factor);
  if (term->is(Function::Select))
    return readChoice(term, factor);
  if (term->is(Function::Negate))
    return read(term->operands[0], -factor);
  if (term->is(Function::Tanh))
    return refusal.because("expected logits as they are, but got them capped by tanh", place);
  return refusal.because("expected logits that are a product of queries and keys, but got a function of them", place);
}

bool attune::raise::readLogits(Terms &terms, TermRef term, SoftmaxMatch &match, Refusal &refusal) {
  if (!LogitsReader(terms, match, refusal).read(term, 1))
    return false;
  if (match.logits.scale > 0 && std::isfinite(match.logits.scale))
    return true;
  return refusal.because(llvm::formatv("expected a scale > 0, but got {0}", textOf(match.logits.scale)), match.root);
}
