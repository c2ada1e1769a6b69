//===- Softmax.cpp - Softmax times values, found in a formula ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Match.h"
#include "Product.h"

using namespace mlir;
using namespace attune::raise;

static bool isExponential(TermRef term) { return term->is(Function::Exp) || term->is(Function::Exp2); }

/// 1 / x, perhaps broadcast.
static bool isReciprocal(Terms &terms, TermRef term) {
  term = terms.value(term);
  return term->is(Function::Divide) && terms.constant(term->operands[0]);
}

static bool leadsToExponential(Terms &terms, TermRef term, unsigned depth) {
  if (isExponential(term))
    return true;
  if (depth == 0)
    return false;
  if (term->kind == Kind::Element) {
    TermRef inside = terms.expand(term);
    return inside && leadsToExponential(terms, inside, depth - 1);
  }
  return isProduct(term) &&
         llvm::any_of(term->operands, [&](TermRef operand) { return leadsToExponential(terms, operand, depth - 1); });
}

namespace {
class SoftmaxReader : public ProductReader {
public:
  using ProductReader::ProductReader;

private:
  /// The values are left as they are: what computes them is another part of the program.
  bool follows(TermRef, TermRef inside, bool below) override {
    if (summed || below)
      return leadsToExponential(terms, inside, 12) || (!below && isReciprocal(terms, inside));
    return isProduct(inside) || inside->kind == Kind::Element || inside->kind == Kind::Sum || isExponential(inside);
  }
  bool isMask(TermRef) override { return true; }
};
} // namespace

/// exp(x − m): x, with m if there is one.
static std::pair<TermRef, TermRef> exponentOf(Terms &terms, TermRef exponential, double &base,
                                              SmallVectorImpl<Value> &between) {
  TermRef term = exponential->operands[0];
  base = exponential->is(Function::Exp2) ? std::log(2.0) : 1;
  while (term->kind == Kind::Element) {
    TermRef inside = terms.expand(term);
    bool follow = inside && (inside->kind == Kind::Element || inside->is(Function::Subtract) ||
                             inside->is(Function::Multiply) || inside->is(Function::Add));
    if (!follow)
      return {term, nullptr};
    between.push_back(term->value);
    if (inside->is(Function::Add))
      return {inside, nullptr};
    term = inside;
  }
  return term->is(Function::Subtract) ? std::pair(term->operands[0], term->operands[1]) : std::pair(term, TermRef());
}

bool attune::raise::isSumOver(Terms &terms, TermRef sum, TermRef body, ArrayRef<unsigned> indices) {
  sum = terms.value(sum);
  if (sum->kind != Kind::Sum || sum->indices.size() != indices.size())
    return false;
  DenseMap<unsigned, unsigned> renamed;
  for (auto [from, to] : llvm::zip_equal(sum->indices, indices)) {
    if (terms.extent(from) != terms.extent(to))
      return false;
    renamed[from] = to;
  }
  return terms.same(terms.value(sum->operands[0]), body, renamed);
}

/// Whether `sum` is the sum of the exponential over the keys; says why not.
static bool isNormaliser(Terms &terms, TermRef sum, TermRef exponential, ArrayRef<unsigned> keys, Value place,
                         Refusal &refusal) {
  sum = terms.value(sum);
  if (sum->is(Function::Add) || sum->is(Function::Max))
    return refusal.because("expected weights divided by their sum alone, but got a guard added to it", place);
  if (sum->kind != Kind::Sum)
    return refusal.because("expected weights divided by their sum, but got another divisor", place);
  if (isSumOver(terms, sum, exponential, keys))
    return true;
  return refusal.because(
      "expected softmax over the dimension of the keys, over which the values are summed, but got it "
      "over another dimension",
      place);
}

/// The factors that are an exponential, the values and the normaliser, and no more.
static bool takeFactors(Terms &terms, Product &product, SoftmaxMatch &match, TermRef &exponential, Refusal &refusal,
                        Value place) {
  auto found = llvm::find_if(product.over, isExponential);
  if (product.indices.empty() || found == product.over.end() || product.over.size() != 2)
    return false;
  exponential = *found;
  match.keys = product.indices;
  match.value = product.over[found == product.over.begin() ? 1 : 0];
  if (isExponential(match.value) || !terms.dependsOn(match.value, match.keys) ||
      !terms.dependsOn(exponential, match.keys) || match.value->kind != Kind::Element)
    return false;
  if (product.under.empty())
    return refusal.because("expected weights divided by their sum, but got exponentials without a divisor", place);
  if (product.under.size() != 1)
    return refusal.because("expected weights divided by their sum, but got more than one divisor", place);
  if (product.coefficient != 1)
    return refusal.because("expected weights that add up to 1, but got them multiplied by a constant", place);
  return isNormaliser(terms, product.under[0], exponential, match.keys, place, refusal);
}

/// Whether the condition is `value` exactly where all logits of a row are −∞, whose weights the product makes 0:
/// PyTorch does so, and attn as well.
static bool isRowWithoutKeys(Terms &terms, TermRef condition, bool value, TermRef logits, ArrayRef<unsigned> keys) {
  TermRef term = terms.value(condition);
  auto stripNot = [&] {
    while (term->is(Function::Equal) && terms.constant(term->operands[1]) == 0.0)
      term = terms.value(term->operands[0]), value = !value;
  };
  stripNot();
  if (value || term->kind != Kind::Maximum || term->indices.size() != keys.size())
    return false;
  DenseMap<unsigned, unsigned> renamed;
  for (auto [from, to] : llvm::zip_equal(term->indices, keys)) {
    if (terms.extent(from) != terms.extent(to))
      return false;
    renamed[from] = to;
  }
  term = terms.value(term->operands[0]), value = true;
  stripNot();
  bool compares = value ? term->is(Function::NotEqual) : term->is(Function::Equal);
  return compares && terms.constant(term->operands[1]) == -std::numeric_limits<double>::infinity() &&
         terms.same(term->operands[0], logits, renamed);
}

TermRef attune::raise::behindReshapes(Terms &terms, TermRef element) {
  while (element->kind == Kind::Element && !isa_and_nonnull<tensor::ExtractSliceOp>(element->value.getDefiningOp())) {
    TermRef inside = terms.expand(element);
    if (!inside || inside->kind != Kind::Element)
      break;
    element = inside;
  }
  return element;
}

TermRef attune::raise::entryOf(Terms &terms, Value root, SoftmaxMatch &match) {
  match.root = root;
  SmallVector<AffineExpr> at;
  for (int64_t size : cast<RankedTensorType>(root.getType()).getShape()) {
    match.indices.push_back(terms.newIndex(size));
    at.push_back(terms.expr(match.indices.back()));
  }
  return terms.element(root, at);
}

bool attune::raise::matchSoftmax(Terms &terms, Value root, SoftmaxMatch &match, Refusal &refusal) {
  TermRef term = terms.expand(entryOf(terms, root, match));
  if (!term || (!isProduct(term) && term->kind != Kind::Sum))
    return false;
  Product product;
  SoftmaxReader(terms, product).read(term);
  for (TermRef tensor : ArrayRef(product.between).drop_front(product.outside))
    match.between.push_back(tensor->value);
  TermRef exponential = nullptr;
  if (!takeFactors(terms, product, match, exponential, refusal, root))
    return false;
  double base = 1;
  auto [logits, shift] = exponentOf(terms, exponential, base, match.between);
  if (shift && terms.dependsOn(terms.value(shift), match.keys))
    return refusal.because("expected softmax over the dimension of the keys, but got a maximum over another dimension",
                           root);
  for (auto [condition, value] : product.choices)
    if (!isRowWithoutKeys(terms, condition, value, logits, match.keys))
      return refusal.because("expected a mask of the logits, but got weights that are made 0 after the exponentials",
                             root);
  match.value = behindReshapes(terms, match.value);
  match.logits.scale = base;
  return readLogits(terms, logits, match, refusal);
}
