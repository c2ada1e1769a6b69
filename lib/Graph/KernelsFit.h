//===- KernelsFit.h - Whether the kernels of a plan fit a block -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_KERNELSFIT_H
#define ATTUNE_LIB_GRAPH_KERNELSFIT_H

#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::graph {

/// Makes the kernels of a plan with a schedule for a GPU as far as their shared memory is planned: whether a block has room for
/// them. What else is wrong with them is for the lowering to say.
bool kernelsFit(mlir::func::FuncOp plan, tile::ScheduleAttr schedule, llvm::StringRef chip);

/// The dialects of such kernels, for passes that ask.
void addDialectsOfKernels(mlir::DialectRegistry &registry);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_KERNELSFIT_H
