//===- SelectPlan.h - The plans of one function -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_SELECTPLAN_H
#define ATTUNE_LIB_GRAPH_SELECTPLAN_H

#include "attune/Graph/Memo.h"
#include "attune/Graph/Metric.h"
#include "attune/Graph/Selection.h"

namespace attune::graph {

/// A function to commit.
struct CommittedPlan {
  mlir::OwningOpRef<mlir::func::FuncOp> function; ///< still with the name of the original
  attn::Form form;
  int64_t from;
  tile::ScheduleAttr schedule;
  std::string forms; ///< "linearize: state, fold wq: apart"
};

struct FunctionPlans {
  FunctionSelection selection;
  std::vector<CommittedPlan> committed;
};

/// Chooses for one function; the function is not changed. No plans if nothing reads an attention's output. Errors are
/// reported at the op that they concern.
mlir::FailureOr<FunctionPlans> selectPlans(mlir::func::FuncOp function,
                                           llvm::ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                           const SelectOptions &options);

/// The same, with approximate laws: those that the user allows are chosen if the best plan with one is cheaper than every
/// exact plan at the length at which prices are told; the others are priced if `options.offers`.
mlir::FailureOr<FunctionPlans> selectWithConsent(mlir::func::FuncOp function,
                                                 llvm::ArrayRef<std::unique_ptr<RewriteLaw>> laws,
                                                 const SelectOptions &options);

/// Reports the plan and its decisions as remarks of category `attn-select-rewrites`.
void emitRemarks(const FunctionSelection &selection, mlir::Location function);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_SELECTPLAN_H
