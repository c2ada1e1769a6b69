//===- Footprints.cpp - Distinct bytes of memories that a launch touches --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Footprints.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// Compiled
//===----------------------------------------------------------------------===//

/// The argument of the kernel that a memory is, or is a view of.
static BlockArgument rootOf(Value memory) {
  while (auto collapse = memory.getDefiningOp<memref::CollapseShapeOp>())
    memory = collapse.getSrc();
  return dyn_cast<BlockArgument>(memory);
}

/// Rows of a fold lie at first + ⌊w / C⌋ S + w mod C; the box has the lines that they lie in.
static FailureOr<Extent> linesOfFold(CountProgram &program, IndexCompiler &indices, const tile::MemoryAccess &access,
                                     const Extent &folded, unsigned dimension) {
  SizeProgram &sizes = program.sizes;
  FailureOr<Register> origin = indices.indexOf(access.indices[dimension]), size = indices.sizeOf(access.memory, dimension);
  if (failed(origin) || failed(size))
    return failure();
  Register line = sizes.withConstant(Step::FloorDiv, folded.first, access.columns);
  Register first = sizes.binary(Step::Add, *origin, sizes.withConstant(Step::Mul, line, access.stride));
  int64_t lines = (access.tile.getDimSize(0) - 1) / access.columns;
  return Extent{first, sizes.constant(lines * access.stride + access.columns), std::nullopt, *size};
}

LogicalResult cost::compileTouch(CountProgram &program, IndexCompiler &indices, const tile::MemoryAccess &access,
                                 ArrayRef<Extent> extents) {
  BlockArgument root = rootOf(access.memory);
  if (!root)
    return emitError(access.memory.getLoc()) << "expected a memory that is an argument of the kernel, or a view of one";
  SizeProgram &sizes = program.sizes;
  Touch touch;
  touch.memory = root.getArgNumber(), touch.stores = access.stores, touch.isWorkspace = indices.isWorkspace(root);
  touch.elementBytes = access.tile.getElementTypeBitWidth() / 8.0;
  auto leading = static_cast<unsigned>(access.indices.size() - extents.size());
  for (unsigned dimension = 0; dimension < leading; ++dimension) {
    FailureOr<std::optional<Register>> index = indices.lengthOf(access.indices[dimension]);
    FailureOr<Register> size = indices.sizeOf(access.memory, dimension);
    if (failed(index) || failed(size))
      return failure();
    // An index that is read from memory may be any.
    bool known = index->has_value();
    touch.box.push_back({known ? **index : sizes.constant(0), known ? sizes.constant(1) : *size, std::nullopt, *size});
  }
  llvm::append_range(touch.box, extents);
  if (access.fold) {
    FailureOr<Extent> lines = linesOfFold(program, indices, access, extents.front(), leading);
    if (failed(lines))
      return failure();
    touch.box[leading] = *lines;
  }
  program.touches.push_back(std::move(touch));
  return success();
}

//===----------------------------------------------------------------------===//
// Evaluated
//===----------------------------------------------------------------------===//

namespace {
/// What a register can be, both ends included.
struct Interval {
  int64_t least = 0, most = 0;
};

/// What is touched of a memory.
struct MemoryBox {
  unsigned memory;
  bool stores, isWorkspace;
  double elementBytes;
  SmallVector<Interval, 4> ranges; ///< the largest index is one past the end

  double bytes() const {
    double count = elementBytes;
    for (const Interval &range : ranges)
      count *= static_cast<double>(std::max<int64_t>(range.most - range.least, 0));
    return count;
  }
};
} // namespace

static Interval productOf(Interval a, Interval b) {
  auto [least, most] = std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
  return {least, most};
}

static Interval applyTo(Step step, Interval a, Interval b) {
  switch (step) {
  case Step::Mul:
    return productOf(a, b);
  case Step::Sub:
    return {a.least - b.most, a.most - b.least};
  case Step::FloorDiv: { // divisors are above 0
    auto quotient = [](int64_t n, int64_t d) { return apply(Step::FloorDiv, n, d); };
    return {std::min(quotient(a.least, b.least), quotient(a.least, b.most)),
            std::max(quotient(a.most, b.least), quotient(a.most, b.most))};
  }
  case Step::Rem:
    if (b.least == b.most && b.least > 0 &&
        apply(Step::FloorDiv, a.least, b.least) == apply(Step::FloorDiv, a.most, b.least))
      return {apply(Step::Rem, a.least, b.least), apply(Step::Rem, a.most, b.least)};
    return {0, std::max<int64_t>(b.most - 1, 0)};
  default: // sums, minima and maxima grow with both
    return {apply(step, a.least, b.least), apply(step, a.most, b.most)};
  }
}

/// Of all registers. A program of `last` is that with the largest number on every axis, which under a causal mask reads the
/// most; else all programs.
static SmallVector<Interval, 64> intervalsOf(const CountProgram &program, ArrayRef<int64_t> values, bool last) {
  ArrayRef<Instruction> code = program.sizes.instructions();
  SmallVector<Interval, 64> intervals(code.size());
  for (auto [place, made] : llvm::enumerate(code)) {
    if (!made.variables) {
      intervals[place] = {values[place], values[place]};
      continue;
    }
    if (made.step == Step::Variable) {
      int64_t most = std::max<int64_t>(intervals[program.counts[made.number]].most - 1, 0);
      bool isFixed = last && made.number < program.axes;
      intervals[place] = {isFixed ? most : 0, most};
      continue;
    }
    intervals[place] = applyTo(made.step, intervals[made.a], intervals[made.b]);
  }
  return intervals;
}

static MemoryBox boxOf(const Touch &touch, ArrayRef<Interval> intervals) {
  MemoryBox box{touch.memory, touch.stores, touch.isWorkspace, touch.elementBytes, {}};
  for (const Extent &extent : touch.box) {
    Interval first = intervals[extent.first];
    int64_t least = std::max<int64_t>(first.least, 0), most = first.most + intervals[extent.length].most;
    if (extent.lower)
      least = std::max(least, intervals[*extent.lower].least);
    box.ranges.push_back({least, std::min(most, intervals[extent.limit].most)});
  }
  return box;
}

/// Joins a box with one of the same memory and rank, if there is one.
static void join(SmallVectorImpl<MemoryBox> &boxes, MemoryBox added) {
  if (added.bytes() == 0)
    return;
  for (MemoryBox &other : boxes)
    if (other.memory == added.memory && other.stores == added.stores && other.ranges.size() == added.ranges.size()) {
      for (auto [a, b] : llvm::zip_equal(other.ranges, added.ranges))
        a = {std::min(a.least, b.least), std::max(a.most, b.most)};
      return;
    }
  boxes.push_back(std::move(added));
}

static Touched touchedIn(const CountProgram &program, ArrayRef<Interval> intervals) {
  SmallVector<MemoryBox, 8> boxes;
  for (const Touch &touch : program.touches)
    join(boxes, boxOf(touch, intervals));
  Touched touched;
  // Boxes of one memory that have different ranks are views of one range.
  for (auto [place, box] : llvm::enumerate(boxes)) {
    auto isOther = [&](const MemoryBox &other) { return other.memory == box.memory && other.stores == box.stores; };
    double largest = box.bytes();
    for (const MemoryBox &other : llvm::make_filter_range(boxes, isOther))
      largest = std::max(largest, other.bytes());
    if (llvm::any_of(ArrayRef(boxes).take_front(place), isOther))
      continue;
    (box.stores ? touched.stored : touched.loaded) += largest;
    touched.workspace += box.stores && box.isWorkspace ? largest : 0;
  }
  return touched;
}

Footprint cost::evaluateFootprint(const CountProgram &program, ArrayRef<int64_t> values) {
  return {touchedIn(program, intervalsOf(program, values, /*last=*/false)),
          touchedIn(program, intervalsOf(program, values, /*last=*/true))};
}
