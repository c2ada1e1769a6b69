//===- LaunchKey.h - The ops that become the kernels of one attention -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of an attention, or of a layer, follow from the ops between its output and what lies in memory when they
// begin: arguments of the function, and what kernels of other ops have stored. Plans of a function share most of these
// pieces, so a piece has a key, which is equal where its kernels are.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_LAUNCHKEY_H
#define ATTUNE_LIB_GRAPH_LAUNCHKEY_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace attune::graph {

/// The ops of one attention or layer.
struct LaunchPiece {
  mlir::Value output;                                ///< what its kernels compute
  llvm::SmallVector<mlir::Operation *, 16> ops;      ///< operands first
  llvm::SmallSetVector<mlir::Value, 8> inputs;       ///< what is in memory before
  llvm::SmallVector<mlir::Value, 2> optionalResults; ///< that the function returns beside the output
  /// Projections that are folded with what reads them; their kernels are made with it.
  llvm::SmallVector<mlir::Operation *, 2> folded;
};

/// The piece of an op that has kernels; `roots` are all of these.
LaunchPiece pieceOf(mlir::func::FuncOp plan, mlir::Operation *root,
                    const llvm::SmallPtrSetImpl<mlir::Operation *> &roots);

/// What is equal for pieces with the same kernels: ops with their attributes, how they are connected, types.
using LaunchKey = std::vector<const void *>;
LaunchKey keyOf(mlir::func::FuncOp plan, const LaunchPiece &piece);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_LAUNCHKEY_H
