//===- Backward.h - Functions that compute gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_BACKWARD_H
#define ATTUNE_ATTN_BACKWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::attn {
/// A unit attribute of functions that are the backward pass of another one.
inline constexpr llvm::StringLiteral backwardAttr = "attn.backward";
/// What the names of cotangents and of gradients begin with, before that of their tensor.
inline constexpr llvm::StringLiteral gradientPrefix = "grad_";
/// What the names begin with of tensors that the forward pass leaves for the backward pass, which may do without them.
inline constexpr llvm::StringLiteral savedPrefix = "saved.";

/// Whether a function computes gradients: its arguments are those of the forward pass, then a cotangent of each output.
inline bool isBackward(mlir::func::FuncOp function) { return function->hasAttr(backwardAttr); }

/// Softmaxes over the sequence become weights by the logarithms of their sums, which a run may have left.
void splitSequenceSoftmaxes(mlir::Block &block);
} // namespace attune::attn

#endif // ATTUNE_ATTN_BACKWARD_H
