//===- Rearrange.cpp - Tensors with their indices grouped in another way -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// expand, drop unit dimensions, transpose, add unit dimensions, collapse; each only where it changes something.
//
//===----------------------------------------------------------------------===//
#include "Match.h"

using namespace mlir;
using namespace attune::raise;

/// The indices of one coordinate: i·(extent of j · …) + j·… + …, outermost first.
static std::optional<SmallVector<unsigned, 2>> indicesOf(Terms &terms, AffineExpr place, int64_t size) {
  SmallVector<std::pair<int64_t, unsigned>> strides;
  SmallVector<AffineExpr> open = {terms.simplify(place)};
  while (!open.empty()) {
    AffineExpr expr = open.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(expr); constant && constant.getValue() == 0)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      strides.emplace_back(1, dim.getPosition());
    } else if (expr.getKind() == AffineExprKind::Add) {
      open.append({binary.getLHS(), binary.getRHS()});
    } else {
      auto dim = binary ? dyn_cast<AffineDimExpr>(binary.getLHS()) : AffineDimExpr(nullptr);
      auto by = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr(nullptr);
      if (expr.getKind() != AffineExprKind::Mul || !dim || !by)
        return std::nullopt;
      strides.emplace_back(by.getValue(), dim.getPosition());
    }
  }
  llvm::sort(strides);
  SmallVector<unsigned, 2> indices;
  int64_t stride = 1;
  for (auto [by, index] : strides) {
    if (by != stride || ShapedType::isDynamic(stride))
      return std::nullopt;
    indices.insert(indices.begin(), index);
    stride = ShapedType::isDynamic(terms.extent(index)) ? ShapedType::kDynamic : stride * terms.extent(index);
  }
  bool whole = ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) || stride == size;
  return whole ? std::optional(indices) : std::nullopt;
}

std::optional<Grouping> attune::raise::groupingOf(Terms &terms, ArrayRef<AffineExpr> at, ArrayRef<int64_t> shape) {
  Grouping grouping;
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [place, size] : llvm::zip_equal(at, shape)) {
    std::optional<SmallVector<unsigned, 2>> indices = indicesOf(terms, place, size);
    if (!indices)
      return std::nullopt;
    // An index that stands twice reads a diagonal.
    for (unsigned index : *indices)
      if (!seen.insert(index).second)
        return std::nullopt;
    grouping.push_back(*indices);
  }
  return grouping;
}

/// Consecutive places for each group; a group without indices has one place if `units`, else it lies in its neighbour.
static SmallVector<ReassociationIndices> placesOf(const Grouping &grouping, bool units) {
  SmallVector<ReassociationIndices> places;
  int64_t next = 0;
  for (ArrayRef<unsigned> group : grouping) {
    ReassociationIndices own;
    for (size_t count = 0; count < std::max<size_t>(group.size(), units ? 1 : 0); ++count)
      own.push_back(next++);
    places.push_back(own);
  }
  return places;
}

/// Dimensions of single indices to dimensions that hold them and units: which unit goes with which index.
static SmallVector<ReassociationIndices> withUnits(const Grouping &grouping) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  ReassociationIndices leading;
  for (ArrayRef<unsigned> group : grouping) {
    if (group.empty()) {
      (groups.empty() ? leading : groups.back()).push_back(next++);
      continue;
    }
    for (size_t count = 0; count < group.size(); ++count) {
      groups.push_back(groups.empty() ? leading : ReassociationIndices());
      groups.back().push_back(next++);
    }
  }
  return groups;
}

static SmallVector<int64_t> sizesOf(const Terms &terms, const Grouping &grouping) {
  SmallVector<int64_t> sizes;
  for (ArrayRef<unsigned> group : grouping) {
    if (group.empty())
      sizes.push_back(1);
    for (unsigned index : group)
      sizes.push_back(terms.extent(index));
  }
  return sizes;
}

static SmallVector<unsigned> flat(const Grouping &grouping) {
  SmallVector<unsigned> indices;
  for (ArrayRef<unsigned> group : grouping)
    indices.append(group.begin(), group.end());
  return indices;
}

static bool hasUnits(const Grouping &grouping) {
  return llvm::any_of(grouping, [](ArrayRef<unsigned> group) { return group.empty(); });
}

static bool hasGroups(const Grouping &grouping) {
  return llvm::any_of(grouping, [](ArrayRef<unsigned> group) { return group.size() > 1; });
}

static Value transpose(OpBuilder &builder, Location loc, Value tensor, ArrayRef<unsigned> from, ArrayRef<unsigned> to) {
  SmallVector<int64_t> permutation;
  SmallVector<OpFoldResult> sizes, sourceSizes = tensor::getMixedSizes(builder, loc, tensor);
  for (unsigned index : to) {
    permutation.push_back(llvm::find(from, index) - from.begin());
    sizes.push_back(sourceSizes[permutation.back()]);
  }
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, getElementTypeOrSelf(tensor.getType()));
  return linalg::TransposeOp::create(builder, loc, tensor, empty, permutation)->getResult(0);
}

Value attune::raise::rearrange(OpBuilder &builder, Location loc, const Terms &terms, Value tensor, const Grouping &from,
                               const Grouping &to) {
  if (from == to)
    return tensor;
  Type element = getElementTypeOrSelf(tensor.getType());
  auto typeOf = [&](const Grouping &grouping) { return RankedTensorType::get(sizesOf(terms, grouping), element); };
  if (hasGroups(from))
    tensor = tensor::ExpandShapeOp::create(builder, loc, typeOf(from), tensor, placesOf(from, true));
  SmallVector<unsigned> single = flat(from), wanted = flat(to);
  if (hasUnits(from) && !single.empty())
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, withUnits(from));
  if (single != wanted)
    tensor = transpose(builder, loc, tensor, single, wanted);
  if (hasUnits(to) && !wanted.empty())
    tensor = tensor::ExpandShapeOp::create(builder, loc, typeOf(to), tensor, withUnits(to));
  if (hasGroups(to))
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, placesOf(to, true));
  return tensor;
}
