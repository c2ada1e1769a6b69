//===- Differentiate.h - The gradients of a function -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_DIFFERENTIATE_H
#define ATTUNE_GRAPH_DIFFERENTIATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attune::graph {
/// Names of arguments of a function whose gradients are asked for.
inline constexpr llvm::StringLiteral gradientsAttr = "attn.gradients";

/// Builds @NAME_backward behind a function of attn ops with `attn.gradients`, as the pass `attn-differentiate` says. An error, at the op or the
/// argument that has none, where something has no gradient. With `linear`, attention of features is differentiated as what goes through states where it can be,
/// in time O(n), in place of weights of pairs. With `save` it takes what the forward function leaves for it, by the list `attn.saved` of that function if it
/// has one (KeepForBackward.h).
mlir::FailureOr<mlir::func::FuncOp> buildBackward(mlir::func::FuncOp forward, bool linear = false, bool save = false);

/// A copy of a function in the terms that its backward pass is made of.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> forwardTerms(mlir::func::FuncOp function);
} // namespace attune::graph

#endif // ATTUNE_GRAPH_DIFFERENTIATE_H
