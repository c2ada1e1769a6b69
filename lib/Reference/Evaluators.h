//===- Evaluators.h - How each op of a function is run -*- C++ -*---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_EVALUATORS_H
#define ATTUNE_LIB_REFERENCE_EVALUATORS_H

#include "AttnFrame.h"

#include "attune/Reference/Attention.h"

#include <functional>

namespace attune::reference {

class Evaluators {
public:
  /// Functions that each run the kind of op that they take.
  template <typename... Ops> void add(mlir::LogicalResult (*...evals)(AttnFrame &, Ops)) { (addOne(evals), ...); }
  /// An error at an op that nobody has added a function for.
  mlir::LogicalResult run(AttnFrame &frame, mlir::Operation &op) const;

private:
  template <typename Op> void addOne(mlir::LogicalResult (*eval)(AttnFrame &, Op)) {
    evaluators[mlir::TypeID::get<Op>()] = [eval](AttnFrame &frame, mlir::Operation &op) {
      return eval(frame, llvm::cast<Op>(op));
    };
  }

  llvm::DenseMap<mlir::TypeID, std::function<mlir::LogicalResult(AttnFrame &, mlir::Operation &)>> evaluators;
};

/// Of `attn.softmax` and `attn.softmax_partial`.
template <typename Op> Logits logitsOf(AttnFrame &frame, Op op) {
  Logits logits(op.getScale().convertToDouble());
  if (op.getSoftcap())
    logits.softcap = op.getSoftcap()->convertToDouble();
  logits.slopes = frame.optional(op.getSlopes());
  return logits;
}

// Each adds the ops of a file.
void addMechanisms(Evaluators &all);
void addLayers(Evaluators &all);
void addSoftmaxTerms(Evaluators &all);
void addKernelTerms(Evaluators &all);
void addMapTerms(Evaluators &all);
void addWeightTerms(Evaluators &all);
void addBlockedTerms(Evaluators &all);
void addBlocks(Evaluators &all);
void addGradientTerms(Evaluators &all);
void addStateGradients(Evaluators &all);
void addFeaturePairs(Evaluators &all);
void addEvaGradients(Evaluators &all);

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_EVALUATORS_H
