//===- CanonicalLaws.h - Laws that no price decides -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_CANONICALLAWS_H
#define ATTUNE_GRAPH_CANONICALLAWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::graph {

/// What canonical laws did to a function.
struct Canonicalized {
  int64_t cancelled = 0, kept = 0; ///< factors and shifts that cancel (identity I12), and those that a condition keeps
  int64_t shared = 0;              ///< ops that were there twice (identity I23)
};

/// Drops factors and shifts that cancel in the normaliser. What stays, and why, is a remark.
void cancelFactors(mlir::func::FuncOp function, Canonicalized &counts);

/// Both laws, in place: the function stays the same in real arithmetic and no form of it becomes dearer.
Canonicalized applyCanonicalLaws(mlir::func::FuncOp function);

} // namespace attune::graph

#endif // ATTUNE_GRAPH_CANONICALLAWS_H
