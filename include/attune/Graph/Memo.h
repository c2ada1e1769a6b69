//===- Memo.h - Equal forms of the ops of a function, side by side -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_MEMO_H
#define ATTUNE_GRAPH_MEMO_H

#include "attune/Laws/Offers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallBitVector.h"

namespace attune::graph {

/// A scratch copy of a function in which every form that the laws offer stands beside the op it equals. The function
/// itself is not touched.
class Memo {
public:
  Memo(mlir::func::FuncOp function, llvm::ArrayRef<std::unique_ptr<RewriteLaw>> laws);

  /// The choices, as `offerForms` has them.
  llvm::ArrayRef<EqualForms> groups() const { return found; }

  /// For each group the alternatives that can be built.
  llvm::SmallVector<llvm::SmallVector<unsigned>> feasible() const;

  /// A copy of the function in which group g is in its alternative `choice[g]`, past the end of the choice in the first
  /// that can be built, and nothing unused is left. `computed` gets a bit a group: whether the copy has what the choice is
  /// about.
  mlir::OwningOpRef<mlir::func::FuncOp> realize(llvm::ArrayRef<unsigned> choice,
                                                llvm::SmallBitVector *computed = nullptr) const;

private:
  mlir::OwningOpRef<mlir::func::FuncOp> scratch;
  llvm::SmallVector<EqualForms, 0> found;
};

/// Every combination of one candidate a group, the first group varying slowest, at most `bound` of them; a group of ops that a
/// form is made of varies only where that form is chosen. If there are more, groups from the end keep their first candidate,
/// and `complete` is false.
struct Enumeration {
  std::vector<llvm::SmallVector<unsigned>> plans;
  bool complete = true;
};
Enumeration enumeratePlans(llvm::ArrayRef<EqualForms> groups, llvm::ArrayRef<llvm::SmallVector<unsigned>> candidates,
                           int64_t bound);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_MEMO_H
