//===- Offers.h - What laws offer, for a function and for what they make of it -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   forms of the function's ops;  forms of the ops that those are made of;  …      until nothing is left to offer
//
// A law is not offered what is made of an op of which it has spoken: what it says of that op holds for all of its forms. So
// there are no more rounds than laws.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LAWS_OFFERS_H
#define ATTUNE_LAWS_OFFERS_H

#include "attune/Laws/RewriteLaw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::graph {

/// A form of one op: its values beside it, or why it has none.
struct Alternative {
  const RewriteLaw *law;
  llvm::StringRef form;
  llvm::SmallVector<mlir::Value> values; ///< one a result of the op
  std::string refusal;
  llvm::SmallVector<mlir::Operation *> made = {}; ///< the ops of these values, in their order

  bool feasible() const { return refusal.empty(); }
};

/// The form that an op is made for: of a group, one of its alternatives.
struct Origin {
  unsigned group, alternative;
};

/// An op and the values that are equal to its results.
struct EqualForms {
  mlir::Operation *op;
  int attention; ///< its place among the attentions of the function; of an op that a law made, that of what it is made of
  llvm::SmallVector<Alternative> alternatives;
  std::optional<unsigned> built = std::nullopt; ///< of a law that marks: the group whose forms of this op it marks
  std::optional<Origin> origin = std::nullopt;  ///< of an op that a law made
};

/// Builds every form that the laws offer beside the op that it equals. First come the ops of the function with something to
/// choose, in their order, then, in the same order, those with something to mark; behind them, in the same way, the ops that a
/// law made, those of one form after those of another.
llvm::SmallVector<EqualForms, 0> offerForms(mlir::func::FuncOp function, llvm::ArrayRef<std::unique_ptr<RewriteLaw>> laws);

/// What is wrong with a pin.
struct PinRefusal {
  bool ofLaw; ///< there is nothing that the law speaks of; else no op can take the form
  std::string expected, got, note;
};

/// Why no op of a function, nor of a form of it, can be in a form of a law; nothing if one can.
std::optional<PinRefusal> refusePin(mlir::func::FuncOp function, const RewriteLaw &law, llvm::StringRef form);

} // namespace attune::graph

#endif // ATTUNE_LAWS_OFFERS_H
