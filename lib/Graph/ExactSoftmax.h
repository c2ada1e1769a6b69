//===- ExactSoftmax.h - The same function with exact softmax -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_EXACTSOFTMAX_H
#define ATTUNE_LIB_GRAPH_EXACTSOFTMAX_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune::graph {

/// The function with exact softmax over all keys in place of every attention, and nothing added to an output; null if it
/// has nothing else.
mlir::OwningOpRef<mlir::func::FuncOp> withExactSoftmax(mlir::func::FuncOp function);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_EXACTSOFTMAX_H
