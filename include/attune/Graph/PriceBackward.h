//===- PriceBackward.h - What the kernels of a backward pass cost -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_PRICEBACKWARD_H
#define ATTUNE_GRAPH_PRICEBACKWARD_H

#include "attune/Graph/Metric.h"
#include "attune/Graph/Selection.h"

namespace attune::graph {

/// Prices the kernels that a module of the tile dialect launches, one after another, at these sizes: the module is that of the gradients `name`,
/// as attn-to-tile makes it, and is not changed. Counts are of the kernels themselves
/// (KernelCounts.h), of those that run where all gradients are asked for and all that was left is given. An error says what cannot be counted.
llvm::Expected<BackwardPlan> priceBackward(mlir::ModuleOp module, llvm::StringRef name, const RuntimeSizes &sizes,
                                           const cost::DeviceDescription &device);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_PRICEBACKWARD_H
