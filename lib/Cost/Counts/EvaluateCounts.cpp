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

EvaluatedCounts KernelCounts::evaluate(ArrayRef<int64_t> sizes, Branches branches, int64_t mostVisited) const {
  SmallVector<int64_t, 64> values = valuesAt(program->sizes, sizes, branches);
  EvaluatedCounts result;
  auto grid = ArrayRef(program->counts).take_front(program->axes);
  if (llvm::any_of(grid, [&](Register axis) { return values[axis] <= 0; }))
    return result;
  result.programs = 1;
  for (Register axis : grid)
    result.programs *= static_cast<double>(values[axis]);
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
