//===- CountedPlan.h - The counted kernels of a plan's attentions -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_COUNTEDPLAN_H
#define ATTUNE_LIB_GRAPH_COUNTEDPLAN_H

#include "attune/Graph/CountedKernels.h"
#include "attune/Graph/Metric.h"

namespace attune::graph {

/// Of each attention of a plan the counted kernels, in the order in which they run, or why they cannot be built or counted.
llvm::Expected<std::vector<CountedAttention>> countPlan(mlir::func::FuncOp plan, llvm::ArrayRef<cost::AttentionShape> attentions,
                                                        tile::ScheduleAttr schedule, KernelCounter &counter);

/// The most bytes of tiles that a program of a plan's mechanisms holds at once; 0 for kernels that cannot be built. More than
/// `enough` is not looked for.
double liveBytes(mlir::func::FuncOp plan, llvm::ArrayRef<cost::AttentionShape> attentions, tile::ScheduleAttr schedule,
                 KernelCounter &counter, double enough);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_COUNTEDPLAN_H
