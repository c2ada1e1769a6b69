//===- EvaluatedPlans.h - What the plans of a function compute -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_RANDOM_EVALUATEDPLANS_H
#define ATTUNE_TEST_RANDOM_EVALUATEDPLANS_H

#include "attune/Graph/Selection.h"
#include "attune/Reference/Array.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::random {

/// One way to compute a function, and its first result by the interpreter in ideal mode.
struct EvaluatedPlan {
  std::string name; ///< "project: folded, kernel: state", or "selected for sm_80"
  reference::Array output;
};

struct EvaluatedPlans {
  std::vector<EvaluatedPlan> evaluated;
  std::vector<std::string> refused; ///< "sm_80: expected a plan …", where a GPU does not support what is pinned
};

/// Every combination of the forms that the laws offer, at most `bound` of them, and the plans that selection takes for a
/// CPU and for a GPU with these pins, of the one function of the module. Each is evaluated in its own order. No plan for the
/// CPU is a failure.
mlir::FailureOr<EvaluatedPlans> evaluatePlans(mlir::ModuleOp module, llvm::ArrayRef<reference::Array> arguments,
                                              llvm::ArrayRef<graph::Pin> pins, int64_t bound = 48);

} // namespace attune::random

#endif // ATTUNE_TEST_RANDOM_EVALUATEDPLANS_H
