//===- SplitGradients.h - Gradients of few long sequences, in parts -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_SPLITGRADIENTS_H
#define ATTUNE_GRAPH_SPLITGRADIENTS_H

#include "attune/Cost/DeviceDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::graph {

/// Decides whether the gradients of causal readouts in a function run over parts of their sequences side by side, as the pass `attn-split-gradients`
/// says, and gives the function a schedule with so many parts, pieces and warps where that is another one than functions have anyway. Whether any readout is
/// cut. The dialects of `loadDialectsOfKernels` are loaded, and on a GPU those of its code.
bool splitGradients(mlir::func::FuncOp function, const cost::DeviceDescription &device);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_SPLITGRADIENTS_H
