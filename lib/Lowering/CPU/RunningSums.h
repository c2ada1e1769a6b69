//===- RunningSums.h - Products with a triangle of ones -*- C++ -*-------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_RUNNINGSUMS_H
#define ATTUNE_LOWERING_CPU_RUNNINGSUMS_H

#include "KernelState.h"

namespace attune::cpu {

/// Row i of the result is the sum of the rows up to i, or from i on.
struct RunningSums {
  bool fromEnd; ///< of the rows behind
  bool own;     ///< row i itself is among them
};

/// Whether a dot makes running sums of the rows of its right operand: the left one is a triangle of ones.
std::optional<RunningSums> runningSums(tile::DotOp dot);
/// An addition a number, in the place of as many multiply-adds as there are rows.
void emitRunningSums(KernelState &state, tile::DotOp dot, RunningSums sums);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_RUNNINGSUMS_H
