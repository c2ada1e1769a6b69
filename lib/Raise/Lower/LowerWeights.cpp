//===- LowerWeights.cpp - Contractions, visibility and powers as linalg ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Lower.h"

using namespace mlir;
using namespace attune;
using namespace attune::raise;

static char letterOf(attn::Role role) {
  switch (role) {
  case attn::Role::Batch:
    return 'b';
  case attn::Role::Head:
    return 'h';
  case attn::Role::Query:
    return 'i';
  case attn::Role::Key:
    return 'j';
  case attn::Role::Feature:
    return 'd';
  case attn::Role::Value:
    return 'v';
  }
}

static std::string patternOf(ArrayAttr roles) {
  std::string pattern;
  for (auto role : roles.getAsRange<attn::RoleAttr>())
    pattern += letterOf(role.getValue());
  return pattern;
}

/// The numbers of heads of both sides, ascending.
static SmallVector<int64_t> headsOfSides(Value lhs, StringRef left, Value rhs, StringRef right) {
  SmallVector<int64_t> heads;
  for (auto [tensor, pattern] : {std::pair(lhs, left), std::pair(rhs, right)})
    if (pattern.contains('h'))
      heads.push_back(sizeOf(tensor, pattern.find('h')));
  llvm::sort(heads);
  return heads;
}

Results attune::raise::lower(OpBuilder &builder, attn::ContractOp op) {
  std::string left = patternOf(op.getLhsRoles()), right = patternOf(op.getRhsRoles());
  std::string result = patternOf(op.getResultRoles());
  SmallVector<int64_t> heads = headsOfSides(op.getLhs(), left, op.getRhs(), right);
  Loops loops(builder, op.getLoc(), heads);
  int64_t all = heads.empty() ? 0 : heads.back();
  std::string summed;
  for (char letter : left + right)
    if (!StringRef(result + summed).contains(letter))
      summed += letter;
  bool careful = summed == "j" && mayReadNothing(op.getLhs());
  Value sum = loops.sum(loops.names(result + summed, all), loops.names(result, all),
                        {loops.named(op.getLhs(), left), loops.named(op.getRhs(), right)},
                        [&](Point, ArrayRef<Number> x) { return careful ? scaledOrNone(x[0], x[1]) : x[0] * x[1]; });
  return {StringRef(result).contains('h') ? loops.flat(sum, result, all) : sum};
}

Results attune::raise::lower(OpBuilder &builder, attn::VisibleOp op) {
  Loops loops(builder, op.getLoc());
  Sight sight{op.getCausal(), op.getWindowAttr(), op.getLengths(), loops.placeOf(op.getWeights(), 2),
              loops.placeOf(op.getWeights(), 3), op.getLast()};
  SmallVector<Named> inputs = {{op.getWeights(), "bhij"}};
  if (op.getLengths())
    inputs.push_back({op.getLengths(), "b"});
  return {loops.map("bhij", inputs, [&](Point at, ArrayRef<Number> x) {
    return select(sight(at, op.getLengths() ? std::optional(x[1]) : std::nullopt), x[0], 0);
  })};
}

Results attune::raise::lower(OpBuilder &builder, attn::DecayOp op) {
  if (cast<RankedTensorType>(op.getDecay().getType()).getRank() != 1) // sums of decays between two tokens are no formula of a pair
    return {};
  int64_t heads = headsOf(op.getWeights());
  Loops loops(builder, op.getLoc(), {sizeOf(op.getDecay(), 0), heads});
  std::string pairs = loops.names("bhij", heads);
  SmallVector<Named> inputs = {loops.named(op.getWeights(), "bhij"), loops.named(op.getDecay(), "h")};
  if (op.getLengths())
    inputs.push_back({op.getLengths(), "b"});
  Value decayed = loops.map(pairs, inputs, [&](Point at, ArrayRef<Number> x) {
    auto existing = [&](char token) {
      Place count = at.index(token) + 1;
      return op.getLengths() ? select(count <= at.place(x[2]), count, at.place(x[2])) : count;
    };
    Place i = existing('i'), j = existing('j'), between = select(j <= i, i - j, i.constant(0));
    return x[0] * exp((between.number() * x[1]).narrowed());
  });
  return {loops.flat(decayed, "bhij", heads)};
}

Results attune::raise::lower(OpBuilder &builder, attn::RowSumOp op) {
  return {Loops(builder, op.getLoc()).sum("bhij", "bhi", {{op.getWeights(), "bhij"}}, [](Point, ArrayRef<Number> x) {
    return x[0];
  })};
}

Results attune::raise::lower(OpBuilder &builder, attn::RowMaximumOp op) {
  return {Loops(builder, op.getLoc()).maximum("bhij", "bhi", {{op.getWeights(), "bhij"}}, [&](Point, ArrayRef<Number> x) {
    Number size = larger(x[0], x[0] * -1);
    for (int64_t root = op.getRoot(); root > 1; root /= 2)
      size = sqrt(size);
    return size;
  })};
}

Results attune::raise::lower(OpBuilder &builder, attn::PowerOp op) {
  return {Loops(builder, op.getLoc()).map("bhij", {{op.getWeights(), "bhij"}}, [&](Point, ArrayRef<Number> x) {
    return power(x[0] * op.getScale().convertToDouble(), static_cast<int64_t>(op.getDegree()));
  })};
}

Results attune::raise::lower(OpBuilder &builder, attn::DiagonalBlocksOp op) {
  auto block = static_cast<int64_t>(op.getBlock());
  return {Loops(builder, op.getLoc())
              .map("bhij", {{op.getInside(), "bhij"}, {op.getOutside(), "bhij"}}, [&](Point at, ArrayRef<Number> x) {
                return select(at.index('i') / block == at.index('j') / block, x[0], x[1]);
              })};
}
