//===- HandedState.cpp - The state of sketches from run to run -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   given: parallel over (batch, head):  K, x, M of the scale and of z;  z = x z,  S = x S, slice by slice or, on a CPU, row by row
//   left:  parallel over (batch, head):  scale, x of K and M;            z = x z,  S = x S, likewise
//
// A CPU's slices have each product of two entries once (SketchedState.h): row i of slice f is that of f and f + i modulo r, and row i
// of slice r that of i and i + r/2.
//
//===----------------------------------------------------------------------===//
#include "HandedState.h"

#include "KeyStage.h"
#include "Terms.h"

using namespace mlir;
using namespace attune;
using namespace attune::kernel;
using namespace attune::fusion;

//===----------------------------------------------------------------------===//
// The tensors
//===----------------------------------------------------------------------===//

Index kernel::limitOfGiven(Value memory, int64_t count) { return min(Index::size(memory, 0), 1) * count; }

static int64_t headsOf(Value scale) { return cast<MemRefType>(scale.getType()).getDimSize(1); }

static SmallVector<Dimension, 4> placeOfScale(Value scale) {
  SmallVector<Dimension, 4> place{entryOf(Axis::Batch), {Axis::Head, 1, 0, 1, 1}};
  place.back().limit = limitOfGiven(scale, headsOf(scale));
  return place;
}

/// The r rows of the slice at the site, of S or of z.
static Dimension rowsOfSlice(Value memory, int64_t size) {
  Dimension rows{Axis::Slice, 1, 0, size, size};
  rows.limit = limitOfGiven(memory, size * size);
  return rows;
}

static SmallVector<Dimension, 4> placeOfSum(Value sum, int64_t size) {
  return {entryOf(Axis::Batch), entryOf(Axis::Head), rowsOfSlice(sum, size)};
}

static SmallVector<Dimension, 4> placeOfMatrix(Value matrix, Dimension rows, const RegionPlanner &plan) {
  return {entryOf(Axis::Batch), entryOf(Axis::Head), std::move(rows), plan.valueColumns()};
}

/// One row of S, that of this number.
static Dimension rowAt(Value matrix, int64_t size, Index number) {
  Dimension row = columnsOf(1);
  row.at = std::move(number), row.limit = limitOfGiven(matrix, size * size);
  return row;
}

static Stage overSlices(const RegionPlanner &plan, int64_t count) { return plan.over(Axis::Slice, count, 1); }

//===----------------------------------------------------------------------===//
// Rows of slices
//===----------------------------------------------------------------------===//

/// ⌊a / b⌋ b off a.
static Index rest(const Index &a, int64_t b) { return a - a / b * b; }

/// The row of S that row number i of slice f has, of rows counted through all slices.
static Index rowOfSlices(const Index &number, int64_t size, int64_t height) {
  Index slice = number / height, row = rest(number, height), isLast = slice / size;
  return (1 - isLast) * (slice * size + rest(slice + row, size)) + isLast * (row * (size + 1) + height);
}

/// Where the row of s_f s_g stands: in slice f where g is less than r/2 behind f, in slice g where f is less than that behind g, else in the
/// last one.
static std::pair<Index, Index> placeInSlices(const Index &number, int64_t size, int64_t height) {
  if (size == 1)
    return {Index(0), Index(0)};
  Index f = number / size, g = rest(number, size), behind = rest(g + size - f, size);
  Index isFar = behind / height, isLast = 1 - min(max(behind - height, height - behind), 1), isOther = isFar - isLast;
  Index slice = (1 - isFar) * f + isLast * size + isOther * g;
  Index row = (1 - isFar) * behind + isLast * min(f, g) + isOther * (size - behind);
  return {slice, row};
}

//===----------------------------------------------------------------------===//
// Given
//===----------------------------------------------------------------------===//

/// Units and factor of a given state.
static Source unitsOf(const HandedState &given, int64_t power) {
  auto size = static_cast<int64_t>(std::llround(std::sqrt(cast<MemRefType>(given.sum.getType()).getDimSize(2))));
  auto extents = std::make_shared<Extents>();
  (*extents)[Axis::Slice].count = size;
  Stage slices{Axis::Slice, 1, {{"slices", Border::Begin, Border::End, false}}, extents};
  Source z = memory(given.sum, placeOfSum(given.sum, size)), scale = memory(given.scale, placeOfScale(given.scale));
  Source largest = stream(slices, {terms::maximum(1, 0), {term(terms::largestRow(), {z})}});
  return term(terms::givenSquares(power, leastLength), {scale, largest});
}

Source kernel::unitBefore(const HandedState &given, int64_t degree) { return term(terms::select({2}), {unitsOf(given, degree)}); }

/// S, row by row or slice by slice, times a factor.
static Source storedRows(const SketchedProblem &at, const RegionPlanner &plan, const HandedState &given, const SketchedState &state,
                         Source factor) {
  int64_t rows = state.once ? state.slices() * state.height() : state.size;
  Index row = rowOfSlices(Index::first(Axis::Slice), state.size, state.height());
  Dimension from = state.once ? rowAt(given.matrix, state.size, row) : rowsOfSlice(given.matrix, state.size);
  Source S = memory(given.matrix, placeOfMatrix(given.matrix, from, plan));
  RegionOutput output{term(terms::times(), {S, factor}), state.matrix, state.once ? state.placeOfRow() : state.placeOfMatrix()};
  return stream(overSlices(plan, rows), {terms::nothing(), {}, {output}});
}

KernelRegion kernel::givenStateRegion(const SketchedProblem &at, const HandedState &given, const SketchedState &state) {
  RegionPlanner plan(at.problem, RegionPlanner::OfKeys);
  KernelRegion region = stateKernel(plan, "given_state", Axis::Head);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = at.problem.heads();
  plan.addValueSlices(region);
  plan.extents = region.extents = extents;
  Source units = unitsOf(given, at.unit.running ? at.options.degree : 0), unit = term(terms::select({0}), {units});
  Source factor = term(terms::select({1}), {units});
  if (at.unit.running) { // in that of the first token, from which blocks go on
    Source now = memory(at.unit.running, {entryOf(Axis::Batch), entryOf(Axis::Head), columnsOf(1)});
    Source inverse = term(terms::inverse(), {SketchedPairs::atLeast(now)});
    unit = term(terms::times(), {unit, term(terms::growth(at.half()), {term(terms::select({2}), {units}), now, inverse})});
  }
  SmallVector<RegionOutput, 1> slice = state.write(unit); // K, S_f, z_f
  slice[2].source = term(terms::times(), {memory(given.sum, placeOfSum(given.sum, state.size)), factor}), slice[2].tile = 0;
  slice.erase(&slice[1]);
  region.effects = {stream(overSlices(plan, state.slices()), {terms::nothing(), {}, slice}),
                    storedRows(at, plan, given, state, factor)};
  return region;
}

//===----------------------------------------------------------------------===//
// Left
//===----------------------------------------------------------------------===//

KernelRegion kernel::leftStateRegion(const SketchedProblem &at, const SketchedState &state, const HandedState &left, Index tokens) {
  RegionPlanner plan(at.problem, RegionPlanner::OfKeys);
  KernelRegion region = stateKernel(plan, "left_state", Axis::Head);
  auto extents = std::make_shared<Extents>(*plan.extents);
  (*extents)[Axis::Head].count = at.problem.heads();
  plan.addValueSlices(region);
  plan.extents = region.extents = extents;
  SmallVector<Source> units{memory(state.unit, state.placeOfUnit(1))};
  if (at.unit.running) {
    Dimension last = columnsOf(1);
    last.at = max(std::move(tokens), 1) - 1;
    units.push_back(memory(at.unit.running, {entryOf(Axis::Batch), entryOf(Axis::Head), last}));
  }
  Source scale = term(terms::scaleOfSquares(at.unit.running ? at.options.degree : 0), units);
  Source factor = term(terms::select({1}), {scale});
  std::optional<Axis> alike = plan.isSliced() ? std::optional(Axis::Value) : std::nullopt;
  if (left.scale)
    region.outputs.push_back({scale, left.scale, placeOfScale(left.scale), 0, alike});
  if (left.sum) {
    SmallVector<Dimension, 4> place = state.write(nullptr)[2].dimensions;
    RegionOutput z{term(terms::times(), {memory(state.sum, place), factor}), left.sum, placeOfSum(left.sum, state.size), 0, alike};
    region.effects.push_back(stream(overSlices(plan, state.size), {terms::nothing(), {}, {z}}));
  }
  if (!left.matrix)
    return region;
  Index number = Index::first(Axis::Slice);
  auto [slice, row] = placeInSlices(number, state.size, state.height());
  Source S = memory(state.matrix, state.once ? state.placeOfRow(slice, row) : state.placeOfMatrix());
  Dimension to = state.once ? rowAt(left.matrix, state.size, number) : rowsOfSlice(left.matrix, state.size);
  RegionOutput rows{term(terms::times(), {S, factor}), left.matrix, placeOfMatrix(left.matrix, to, plan)};
  int64_t count = state.once ? state.size * state.size : state.size;
  region.effects.push_back(stream(overSlices(plan, count), {terms::nothing(), {}, {rows}}));
  return region;
}
