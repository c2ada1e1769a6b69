//===- SquareRegion.cpp - Tensor squares of tokens, and their gradient ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   square:          parallel over (batch, head, token block)     φ_f = x_f x, entry after entry f
//   square_gradient: the same                                     x̄ = (Φ̄ + Φ̄ᵀ) x, row after row of Φ̄
//
// Symmetric squares have the products of each shift side by side, and of all of them at once.
//
//===----------------------------------------------------------------------===//
#include "SquareRegion.h"

#include "KeyStage.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;
using kernel::Tokens;

namespace {
/// Blocks of tokens, and the entries of each.
struct SquarePlan {
  SquarePlan(const Problem &problem, const Tokens &tokens, Value lengths, const Tokens &result) : own(problem), tokens(tokens), result(result), plan(planOf(lengths)) {}

  KernelRegion region(StringRef suffix) const {
    KernelRegion region = stateKernel(plan, suffix, Axis::Head);
    region.grid.push_back({Axis::Query, tile::Axis::QueryBlock, own.queryTile()});
    return region;
  }
  /// Columns of the tokens of some memory.
  Source columns(const Tokens &of, Dimension columns) const {
    Dimension head{Axis::Head, result.heads / of.heads, of.firstHead};
    return memory(of.memory, {entryOf(Axis::Batch), head, rowsOf(Axis::Query), std::move(columns)});
  }
  Source rows() const { return columns(tokens, columnsOf(tokens.width)); }
  Source entry() const { return term(terms::column(), {columns(tokens, {Axis::Slice, 1, 0, 1, 1})}); }
  /// Of φ or of Φ̄ the row at the site.
  Dimension square() const { return {Axis::Slice, 1, 0, tokens.width, tokens.width}; }
  /// Where columns of the result are stored: rows past the lengths, too, as zeros.
  SmallVector<Dimension, 4> place(Dimension columns) const {
    SmallVector<Dimension, 4> place{entryOf(Axis::Batch), entryOf(Axis::Head), rowsOf(Axis::Query), std::move(columns)};
    place[2].limit = Index::size(result.memory, 2);
    return place;
  }
  Stage entries() const { return plan.over(Axis::Slice, tokens.width, 1); }

  Problem own;
  const Tokens &tokens, &result;
  RegionPlanner plan;

private:
  RegionPlanner planOf(Value lengths) {
    own.query = tokens, own.query.heads = result.heads;
    RegionPlanner made(own, RegionPlanner::OfQueries);
    auto extents = std::make_shared<Extents>(*made.extents);
    (*extents)[Axis::Head].count = result.heads, (*extents)[Axis::Query].lengths = lengths;
    made.extents = extents;
    return made;
  }
};
} // namespace

KernelRegion kernel::squareRegion(const Problem &problem, const Tokens &tokens, Value lengths, const Tokens &result) {
  SquarePlan square(problem, tokens, lengths, result);
  KernelRegion region = square.region("square");
  RegionOutput output{term(terms::times(), {square.rows(), square.entry()}), result.memory, square.place(square.square())};
  region.effects = {stream(square.entries(), {terms::nothing(), {}, {output}})};
  return region;
}

KernelRegion kernel::squareGradientRegion(const Problem &problem, const Tokens &tokens, Value lengths, const Tokens &cotangent, const Tokens &result) {
  SquarePlan square(problem, tokens, lengths, result);
  Source gradient = stream(square.entries(), {terms::squareGradient(tokens.width), {square.rows(), square.entry(), square.columns(cotangent, square.square())}});
  KernelRegion region = square.region("square_gradient");
  region.outputs = {{gradient, result.memory, square.place(columnsOf(tokens.width))}};
  return region;
}

/// The columns of a shift.
static Dimension columnsOfShift(int64_t shift, int64_t size) {
  Dimension columns = columnsOf(size);
  columns.add = shift * size;
  return columns;
}

static SmallVector<double> weightsOfShifts(int64_t size) {
  return llvm::map_to_vector(llvm::seq(size / 2 + 1), [&](int64_t shift) { return attn::FeatureMapAttr::weightOfShift(shift, size); });
}

KernelRegion kernel::symmetricSquareRegion(const Problem &problem, const Tokens &tokens, Value lengths, const Tokens &result) {
  SquarePlan square(problem, tokens, lengths, result);
  KernelRegion region = square.region("square");
  Source x = square.rows();
  for (auto [shift, weight] : llvm::enumerate(weightsOfShifts(tokens.width))) {
    auto number = static_cast<int64_t>(shift);
    region.outputs.push_back({term(terms::shiftedProduct(number, weight), {x}), result.memory, square.place(columnsOfShift(number, tokens.width))});
  }
  return region;
}

KernelRegion kernel::symmetricSquareGradientRegion(const Problem &problem, const Tokens &tokens, Value lengths, const Tokens &cotangent,
                                                   const Tokens &result) {
  SquarePlan square(problem, tokens, lengths, result);
  SmallVector<Source> operands{square.rows()};
  SmallVector<double> weights = weightsOfShifts(tokens.width);
  for (size_t shift = 0; shift < weights.size(); ++shift)
    operands.push_back(square.columns(cotangent, columnsOfShift(static_cast<int64_t>(shift), tokens.width)));
  KernelRegion region = square.region("square_gradient");
  region.outputs = {{term(terms::shiftedProductsGradient(weights), operands), result.memory, square.place(columnsOf(tokens.width))}};
  return region;
}
