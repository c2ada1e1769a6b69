//===- Problem.h - A spec, its tensors, and its loss ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_GRADIENTS_PROBLEM_H
#define ATTUNE_TEST_UNIT_GRADIENTS_PROBLEM_H

#include "attune/Frontend/SpecTensors.h"
#include "attune/Reference/EvalAttn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace attune {

/// The arrays of a run, by the names of its tensors.
using Arrays = std::map<std::string, reference::Array>;

/// A spec with `gradients`, its function and the one of its gradients, with drawn tensors: inputs, parameters and gradients of outputs.
struct Problem {
  /// The text of a spec with every size known. `compiled`: the gradients are those that kernels compute, through states and units that cancel.
  explicit Problem(const std::string &yaml, uint64_t seed = 1, bool compiled = false);

  /// The gradients by the names of their tensors, by the backward function.
  Arrays gradients(const Arrays &arrays) const;
  /// L = Σ output ⊙ its gradient, of states by their true value. Infinite outputs count for nothing.
  double loss(const Arrays &arrays) const;
  /// ⟨∂L/∂name, direction⟩ by differences of the loss: steps of several lengths, extrapolated, of which the two that agree best count, since a
  /// long one may cross a kink.
  double difference(const std::string &name, const std::vector<double> &direction) const;
  /// Of one step and two halvings, up to its sixth power.
  double extrapolated(const std::string &name, const std::vector<double> &direction, double step) const;

  Spec spec;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp forward, backward;
  Arrays drawn;
};

double norm(const reference::Array &array);

} // namespace attune

#endif // ATTUNE_TEST_UNIT_GRADIENTS_PROBLEM_H
