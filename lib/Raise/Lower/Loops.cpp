//===- Loops.cpp - linalg ops over named dimensions ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Loops.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace attune::raise;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Number attune::raise::power(Number a, int64_t degree) {
  std::optional<Number> result;
  for (Number square = a; degree; square = square * square) {
    if (degree & 1)
      result = result ? *result * square : square;
    if (!(degree /= 2))
      break;
  }
  return *result;
}

Number Place::number() const {
  Value wide = arith::IndexCastOp::create(*builder, loc, builder->getI64Type(), value);
  return {{builder, loc, arith::SIToFPOp::create(*builder, loc, builder->getF64Type(), wide)}};
}

Place Point::index(char name) const {
  return {{builder, loc, linalg::IndexOp::create(*builder, loc, loops.find(name))}};
}

Number Point::number(double value) const {
  return {{builder, loc, arith::ConstantOp::create(*builder, loc, builder->getF32FloatAttr(value))}};
}

Place Point::place(Number integer) const {
  return {{builder, loc, arith::IndexCastOp::create(*builder, loc, builder->getIndexType(), integer.value)}};
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string attune::raise::without(StringRef names, StringRef letters) {
  std::string result;
  llvm::copy_if(names, std::back_inserter(result), [&](char name) { return !letters.contains(name); });
  return result;
}

Loops::Loops(OpBuilder &builder, Location loc, ArrayRef<int64_t> heads) : builder(builder), loc(loc), heads(heads) {}

std::string Loops::names(StringRef pattern, int64_t count) const {
  std::string letters = "g";
  for (size_t level = 1; level < heads.size(); ++level)
    if (heads[level] <= count && heads[level] != heads[level - 1])
      letters += "grs"[level];
  auto [before, after] = pattern.split('h');
  return pattern.contains('h') ? (before + letters + after).str() : pattern.str();
}

Named Loops::named(Value tensor, StringRef pattern) {
  size_t place = pattern.find('h');
  if (place == StringRef::npos)
    return {tensor, pattern.str()};
  int64_t count = attune::raise::sizeOf(tensor, place);
  SmallVector<int64_t> into;
  for (size_t level = 0; level < heads.size() && heads[level] <= count; ++level)
    if (level == 0)
      into.push_back(heads[0]);
    else if (heads[level] != heads[level - 1])
      into.push_back(heads[level] / heads[level - 1]);
  return {into.size() > 1 ? split(tensor, place, into) : tensor, names(pattern, count)};
}

Named Loops::parameter(Value tensor, StringRef pattern) {
  if (attune::raise::sizeOf(tensor, 0) != 1)
    return named(tensor, pattern);
  return {merge(tensor, 0, 2), pattern.drop_front().str()};
}

Value Loops::flat(Value tensor, StringRef pattern, int64_t count) {
  return merge(tensor, pattern.find('h'), names("h", count).size());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

OpFoldResult Loops::sizeOf(Value tensor, unsigned dimension) {
  return tensor::getMixedSize(builder, loc, tensor, dimension);
}

Place Loops::placeOf(Value tensor, unsigned dimension) {
  return {{&builder, loc, getValueOrCreateConstantIndexOp(builder, loc, sizeOf(tensor, dimension))}};
}

/// Every dimension alone, but `count` of them from `first` on together.
static SmallVector<ReassociationIndices> groups(unsigned rank, unsigned first, unsigned count) {
  SmallVector<ReassociationIndices> result;
  for (unsigned dimension = 0; dimension < rank; ++dimension)
    if (dimension > first && dimension < first + count)
      result.back().push_back(dimension);
    else
      result.push_back({dimension});
  return result;
}

Value Loops::split(Value tensor, unsigned dimension, ArrayRef<int64_t> into) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dimension);
  shape.insert(shape.begin() + dimension, into.begin(), into.end());
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       groups(shape.size(), dimension, into.size()));
}

Value Loops::merge(Value tensor, unsigned first, unsigned count) {
  if (count < 2)
    return tensor;
  unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups(rank, first, count));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static AffineMap mapOf(OpBuilder &builder, StringRef loops, StringRef names) {
  SmallVector<AffineExpr> exprs;
  for (size_t place = 0; place < names.size(); ++place) {
    AffineExpr expr = builder.getAffineDimExpr(loops.find(names[place]));
    if (place != 0 && names[place - 1] == '+')
      exprs.back() = exprs.back() + expr;
    else if (names[place] != '+')
      exprs.push_back(expr);
  }
  return AffineMap::get(loops.size(), 0, exprs, builder.getContext());
}

Value Loops::empty(StringRef names, ArrayRef<Named> inputs, Type element) {
  SmallVector<OpFoldResult> shape;
  for (char name : names) {
    const auto *input = llvm::find_if(inputs, [&](const Named &each) { return StringRef(each.names).contains(name); });
    bool isSaid = sizes.contains(name) || input == inputs.end();
    shape.push_back(isSaid ? sizes.at(name) : sizeOf(input->tensor, input->names.find(name)));
  }
  return tensor::EmptyOp::create(builder, loc, shape, element);
}

Value Loops::generic(StringRef loops, StringRef names, ArrayRef<Named> inputs, Value out, Body body) {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> iterators;
  for (const Named &input : inputs)
    operands.push_back(input.tensor), maps.push_back(mapOf(builder, loops, input.names));
  maps.push_back(mapOf(builder, loops, names));
  for (char name : loops)
    iterators.push_back(names.contains(name) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
  Type element = elementOf(out);
  auto build = [&](OpBuilder &inside, Location at, ValueRange arguments) {
    SmallVector<Number> numbers;
    for (Value argument : arguments) {
      auto type = dyn_cast<FloatType>(argument.getType());
      bool isNarrow = type && type.getWidth() < 32;
      numbers.push_back(
          {{&inside, at, isNarrow ? arith::ExtFOp::create(inside, at, inside.getF32Type(), argument) : argument}});
    }
    Number result = body(Point{&inside, at, loops}, numbers);
    bool narrows = result.value.getType() != element;
    linalg::YieldOp::create(inside, at,
                            narrows ? arith::TruncFOp::create(inside, at, element, result.value) : result.value);
  };
  return linalg::GenericOp::create(builder, loc, TypeRange{out.getType()}, operands, ValueRange{out}, maps, iterators,
                                   build)
      .getResult(0);
}

Value Loops::map(StringRef names, ArrayRef<Named> inputs, Body body, Type element) {
  return generic(names, names, inputs, empty(names, inputs, element ? element : builder.getF32Type()), body);
}

Value Loops::reduce(StringRef loops, StringRef names, ArrayRef<Named> inputs, double start, Body body) {
  Value out = empty(names, inputs, builder.getF32Type());
  Value first = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(start));
  return generic(loops, names, inputs, linalg::FillOp::create(builder, loc, first, out).getResult(0), body);
}

Value Loops::sum(StringRef loops, StringRef names, ArrayRef<Named> inputs, Body body) {
  return reduce(loops, names, inputs, 0,
                [&](Point at, ArrayRef<Number> x) { return x.back() + body(at, x.drop_back()); });
}

Value Loops::maximum(StringRef loops, StringRef names, ArrayRef<Named> inputs, Body body) {
  return reduce(loops, names, inputs, -std::numeric_limits<double>::infinity(),
                [&](Point at, ArrayRef<Number> x) { return larger(x.back(), body(at, x.drop_back())); });
}
