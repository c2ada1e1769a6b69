//===- CountProgram.h - A launch, compiled to what is summed -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counts of a launch are a sum of terms. A term is what ops do once, and how often they do it: a product of
// factors, each of which depends on variables (programs of an axis, steps of a loop), summed over all values of these.
// Factors that share no variable are summed apart: Σ_x Σ_y f(x) g(y) = (Σ_x f(x)) (Σ_y g(y)). A group of factors that
// share some is a `FactorSum`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_COUNTPROGRAM_H
#define ATTUNE_LIB_COST_COUNTS_COUNTPROGRAM_H

#include "SizeProgram.h"

#include "attune/Cost/KernelCounts.h"

namespace attune::cost {

/// Σ over the variables of Π of the factors.
struct FactorSum {
  llvm::SmallVector<unsigned, 4> variables; ///< a variable's count depends on earlier ones alone
  llvm::SmallVector<Register, 4> factors;
  llvm::SmallVector<Register, 16> needed; ///< registers that depend on variables, operands first
};

struct CountTerm {
  llvm::SmallVector<unsigned, 4> sums;       ///< of FactorSums
  llvm::SmallVector<Register, 4> factors;    ///< that depend on sizes alone
  llvm::SmallVector<Register, 1> divisors;   ///< the same: of loops that one program of so many runs
  Issued issued;
  double bytesInPieces = 0;
};

/// Rows, or columns, first ≤ i < first + length of which those count with lower ≤ i < limit.
struct Extent {
  Register first, length;
  std::optional<Register> lower; ///< from 0 on; none: 0, and `first` is not negative
  Register limit;
};

/// What an access touches of a memory: an extent for each dimension.
struct Touch {
  unsigned memory = 0; ///< the argument of the kernel
  bool stores = false, isWorkspace = false; ///< the latter: handed from kernel to kernel
  double elementBytes = 0;
  llvm::SmallVector<Extent, 4> box;
};

/// A loop that carries tiles, and the term of its steps, whose count is not read.
struct CarryTerm {
  CountTerm steps;
  double carriedBytes, liveBytes;
};

struct CountProgram {
  SizeProgram sizes;
  llvm::SmallVector<Register, 8> counts; ///< of each variable: programs of an axis, then steps of each loop
  unsigned axes = 0;
  std::vector<FactorSum> sums;
  std::vector<CountTerm> terms;
  std::vector<Touch> touches;
  std::vector<CarryTerm> carries;
  double liveBytes = 0;
  llvm::SmallVector<SizeInput, 8> inputs; ///< input 0 is whether branches are rare ones; these follow
};

/// The value of a sum at sizes; `values` holds the registers that depend on sizes alone. Of a variable without a closed form
/// at most so many values are visited; `isExact` is cleared if there are more.
double evaluateSum(const CountProgram &program, const FactorSum &sum, llvm::ArrayRef<int64_t> values, int64_t mostVisited,
                   bool &isExact);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_COUNTPROGRAM_H
