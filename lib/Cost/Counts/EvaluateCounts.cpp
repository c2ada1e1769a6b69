//===- EvaluateCounts.cpp - The counts of a launch at sizes ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Footprints.h"

using namespace mlir;
using namespace attune;
using namespace attune::cost;

/// Of each register that depends on sizes alone.
static SmallVector<int64_t, 64> valuesAt(const SizeProgram &program, ArrayRef<int64_t> sizes, Branches branches) {
  ArrayRef<Instruction> code = program.instructions();
  SmallVector<int64_t, 64> values(code.size());
  for (auto [value, made] : llvm::zip_equal(values, code)) {
    if (made.variables)
      continue;
    bool isBranch = made.step == Step::Input && made.number == 0;
    value = made.step == Step::Constant ? made.number
            : isBranch                  ? branches == Branches::Rare
            : made.step == Step::Input  ? sizes[made.number - 1]
                                        : apply(made.step, values[made.a], values[made.b]);
  }
  return values;
}

/// How often what a term counts is done.
static double timesOf(const CountTerm &term, ArrayRef<int64_t> values, ArrayRef<double> sums) {
  double times = 1;
  for (unsigned sum : term.sums)
    times *= sums[sum];
  for (Register factor : term.factors)
    times *= static_cast<double>(values[factor]);
  for (Register divisor : term.divisors)
    times /= static_cast<double>(values[divisor]);
  return times;
}

namespace {
/// Which programs along an axis of the grid have something to do, with the last one of every other axis: under a causal mask it sees
/// the most.
class BusyPrograms {
public:
  BusyPrograms(const CountProgram &program, ArrayRef<int64_t> values, unsigned axis)
      : program(program), values(values), axis(axis), count(values[program.counts[axis]]) {
    for (unsigned loop = program.axes; loop < program.counts.size(); ++loop)
      if (program.sizes.variablesOf(program.counts[loop]) >> axis & 1)
        loops.push_back(program.counts[loop]);
  }

  /// Their number. Where a loop depends on the axis they follow one another from one of its ends, or all have something to do.
  double number() const {
    if (loops.empty() || (hasSteps(0) && hasSteps(count - 1)))
      return static_cast<double>(count);
    bool fromFirst = hasSteps(0);
    if (!fromFirst && !hasSteps(count - 1))
      return 1;
    int64_t yes = fromFirst ? 0 : count - 1, no = fromFirst ? count - 1 : 0;
    while (std::abs(yes - no) > 1)
      (hasSteps((yes + no) / 2) ? yes : no) = (yes + no) / 2;
    return static_cast<double>(fromFirst ? yes + 1 : count - yes);
  }

private:
  bool hasSteps(int64_t place) const {
    return llvm::any_of(loops, [&](Register steps) { return at(steps, place) > 0; });
  }
  int64_t at(Register value, int64_t place) const {
    const Instruction &made = program.sizes.instructions()[value];
    if (!made.variables)
      return values[value];
    if (made.step != Step::Variable)
      return apply(made.step, at(made.a, place), at(made.b, place));
    if (made.number >= program.axes)
      return 0;
    return made.number == axis ? place : values[program.counts[made.number]] - 1;
  }

  const CountProgram &program;
  ArrayRef<int64_t> values;
  unsigned axis;
  int64_t count;
  SmallVector<Register, 4> loops; ///< steps of those that depend on the axis
};
} // namespace

EvaluatedCounts KernelCounts::evaluate(ArrayRef<int64_t> sizes, Branches branches, int64_t mostVisited) const {
  SmallVector<int64_t, 64> values = valuesAt(program->sizes, sizes, branches);
  EvaluatedCounts result;
  auto grid = ArrayRef(program->counts).take_front(program->axes);
  if (llvm::any_of(grid, [&](Register axis) { return values[axis] <= 0; }))
    return result;
  result.programs = result.busyPrograms = 1;
  for (unsigned axis = 0; axis < program->axes; ++axis) {
    result.programs *= static_cast<double>(values[grid[axis]]);
    result.busyPrograms *= BusyPrograms(*program, values, axis).number();
  }
  SmallVector<double, 16> sums;
  for (const FactorSum &sum : program->sums)
    sums.push_back(evaluateSum(*program, sum, values, mostVisited, result.isExact));
  for (const CountTerm &term : program->terms) {
    double times = timesOf(term, values, sums);
    result.count.add(term.issued.count, times);
    result.shuffles += term.issued.shuffles * times, result.bytesInPieces += term.bytesInPieces * times;
    if (term.divisors.empty())
      continue;
    result.last.add(term.issued.count, times);
    result.lastPrograms = result.programs / static_cast<double>(values[term.divisors.front()]);
  }
  for (const CarryTerm &carry : program->carries)
    result.loops.push_back({timesOf(carry.steps, values, sums), carry.carriedBytes, carry.liveBytes});
  result.footprint = evaluateFootprint(*program, values);
  return result;
}
