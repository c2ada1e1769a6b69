//===- Lengths.cpp - Numbers of keys that are known when the program runs --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask of j < L_b, where L is an input with one number of keys for each entry of the batch.
//
//===----------------------------------------------------------------------===//
#include "Match.h"

using namespace mlir;
using namespace attune::raise;

/// Whether the term is the place of the key.
static bool isKey(Terms &terms, TermRef term, const SoftmaxMatch &match) {
  return term->kind == Kind::Place && match.keys.size() == 1 &&
         terms.simplify(term->at[0]) == terms.simplify(terms.expr(match.keys[0]));
}

/// x of "x and true": JAX combines masks even where there is only one.
static TermRef withoutTrue(Terms &terms, TermRef condition) {
  while (condition->is(Function::And)) {
    auto isTrue = [&](TermRef term) { return terms.constant(term) == 1.0; };
    auto other = llvm::find_if_not(condition->operands, isTrue);
    if (other == condition->operands.end() || !llvm::any_of(condition->operands, isTrue))
      break;
    condition = *other;
  }
  return condition;
}

/// The number of keys that the condition compares the key with, and whether keys exist where it holds.
static std::pair<TermRef, bool> comparedWith(Terms &terms, TermRef condition, const SoftmaxMatch &match) {
  condition = withoutTrue(terms, condition);
  bool below = condition->is(Function::Less) || condition->is(Function::Greater);
  if (!below && !condition->is(Function::LessEqual) && !condition->is(Function::GreaterEqual))
    return {};
  // j < L, L > j; j ≥ L, L ≤ j.
  bool keyFirst = condition->is(Function::Less) || condition->is(Function::GreaterEqual);
  TermRef key = condition->operands[keyFirst ? 0 : 1], length = condition->operands[keyFirst ? 1 : 0];
  return isKey(terms, key, match) ? std::pair(length, below) : std::pair(TermRef(), false);
}

/// Whether the term is an entry of a vector of integers, by an index of its own.
static std::optional<unsigned> indexOfVector(Terms &terms, TermRef length) {
  if (length->kind != Kind::Element || length->at.size() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(length->value.getType());
  auto index = dyn_cast<AffineDimExpr>(terms.simplify(length->at[0]));
  bool isVector = index && type.hasStaticShape() && terms.extent(index.getPosition()) == type.getDimSize(0) &&
                  (type.getElementType().isInteger(32) || type.getElementType().isInteger(64));
  return isVector ? std::optional(index.getPosition()) : std::nullopt;
}

bool attune::raise::readLengths(Terms &terms, TermRef mask, const SoftmaxMatch &match, Visibility &visibility) {
  double factor = 1;
  for (unsigned side : {0, 1})
    if (std::optional<double> number =
            mask->is(Function::Multiply) ? terms.constant(mask->operands[side]) : std::nullopt)
      factor *= *number, mask = mask->operands[1 - side];
  if (!mask->is(Function::Select) || visibility.lengths)
    return false;
  auto [length, seenIfTrue] = comparedWith(terms, mask->operands[0], match);
  if (!length)
    return false;
  std::optional<double> seen = terms.constant(mask->operands[seenIfTrue ? 1 : 2]),
                        hidden = terms.constant(mask->operands[seenIfTrue ? 2 : 1]);
  std::optional<unsigned> index = indexOfVector(terms, length);
  if (!index || !seen || *seen * factor != 0 || !hidden || !(*hidden * factor <= hides))
    return false;
  visibility.lengths = length->value, visibility.batch = index;
  return true;
}

Value attune::raise::buildLengths(OpBuilder &builder, Location loc, Value lengths, int64_t keys) {
  auto type = cast<RankedTensorType>(lengths.getType());
  auto all = [&](int64_t number) -> Value {
    auto element = builder.getIntegerAttr(type.getElementType(), number);
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
  };
  // A comparison takes any number; attn wants one of keys that are there.
  lengths = arith::MaxSIOp::create(builder, loc, lengths, all(0));
  lengths = arith::MinSIOp::create(builder, loc, lengths, all(keys));
  auto narrow = RankedTensorType::get(type.getShape(), builder.getI32Type());
  return type == narrow ? lengths : arith::TruncIOp::create(builder, loc, narrow, lengths).getResult();
}
