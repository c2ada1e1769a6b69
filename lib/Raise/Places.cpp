//===- Places.cpp - Coordinates simplified by the extents of indices ------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Terms.h"

using namespace mlir;
using namespace attune::raise;

std::optional<std::pair<int64_t, int64_t>> Terms::range(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t size = extents[dim.getPosition()];
    return ShapedType::isDynamic(size) ? std::nullopt : std::optional(std::pair<int64_t, int64_t>(0, size - 1));
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto left = binary ? range(binary.getLHS()) : std::nullopt, right = binary ? range(binary.getRHS()) : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return std::pair(left->first + right->first, left->second + right->second);
  int64_t by = right->first;
  if (by <= 0 || right->second != by)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return std::pair(left->first * by, left->second * by);
  if (expr.getKind() == AffineExprKind::Mod)
    return std::pair<int64_t, int64_t>(0, by - 1);
  if (expr.getKind() == AffineExprKind::FloorDiv && left->first >= 0)
    return std::pair(left->first / by, left->second / by);
  return std::nullopt;
}

static void collectSummands(AffineExpr expr, SmallVectorImpl<AffineExpr> &summands) {
  if (expr.getKind() != AffineExprKind::Add)
    return summands.push_back(expr);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  collectSummands(binary.getLHS(), summands);
  collectSummands(binary.getRHS(), summands);
}

/// (a + b) · c as a · c + b · c, so that sums of sums have one form.
static AffineExpr distribute(AffineExpr sum, AffineExpr by) {
  SmallVector<AffineExpr> summands;
  collectSummands(sum, summands);
  AffineExpr result = getAffineConstantExpr(0, sum.getContext());
  for (AffineExpr summand : summands)
    result = result + summand * by;
  return result;
}

/// (by · a + r) / by and (by · a + r) mod by, known where 0 ≤ r < by.
AffineExpr Terms::divide(AffineExpr expr, int64_t by, bool remainder) {
  SmallVector<AffineExpr> summands;
  collectSummands(expr, summands);
  AffineExpr whole = getAffineConstantExpr(0, context), rest = whole;
  for (AffineExpr summand : summands)
    (summand.isMultipleOf(by) ? whole : rest) = (summand.isMultipleOf(by) ? whole : rest) + summand;
  auto bounds = range(rest);
  bool small = bounds && bounds->first >= 0 && bounds->second < by;
  if (remainder)
    return small ? rest : rest % by;
  AffineExpr quotient = whole.floorDiv(by);
  if (small)
    return quotient;
  // ⌊⌊x / a⌋ / b⌋ = ⌊x / ab⌋.
  if (auto inner = dyn_cast<AffineBinaryOpExpr>(rest); inner && rest.getKind() == AffineExprKind::FloorDiv)
    if (auto by2 = dyn_cast<AffineConstantExpr>(inner.getRHS()))
      return quotient + divide(inner.getLHS(), by * by2.getValue(), false);
  return quotient + rest.floorDiv(by);
}

AffineExpr Terms::simplify(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (auto found = parts.find(dim.getPosition()); found != parts.end()) {
      auto [outer, inner] = found->second;
      return distribute(simplify(this->expr(outer)), getAffineConstantExpr(extents[inner], context)) +
             simplify(this->expr(inner));
    }
    return extents[dim.getPosition()] == 1 ? getAffineConstantExpr(0, context) : expr;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr left = simplify(binary.getLHS()), right = simplify(binary.getRHS());
  auto by = dyn_cast<AffineConstantExpr>(right);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return distribute(left, right);
  case AffineExprKind::FloorDiv:
    return by && by.getValue() > 0 ? divide(left, by.getValue(), false) : left.floorDiv(right);
  case AffineExprKind::Mod:
    return by && by.getValue() > 0 ? divide(left, by.getValue(), true) : left % right;
  default:
    return expr;
  }
}

std::pair<unsigned, unsigned> Terms::split(unsigned index, int64_t innerExtent) {
  int64_t size = extents[index];
  unsigned outer = newIndex(ShapedType::isDynamic(size) ? size : size / innerExtent), inner = newIndex(innerExtent);
  parts[index] = {outer, inner};
  return {outer, inner};
}

int64_t Terms::valueOf(AffineExpr expr, ArrayRef<int64_t> at) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto found = parts.find(dim.getPosition());
    if (found == parts.end())
      return dim.getPosition() < at.size() ? at[dim.getPosition()] : 0;
    auto [outer, inner] = found->second;
    return valueOf(this->expr(outer), at) * extents[inner] + valueOf(this->expr(inner), at);
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = valueOf(binary.getLHS(), at), right = valueOf(binary.getRHS(), at);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  default:
    return left - llvm::divideFloorSigned(left, right) * right;
  }
}
