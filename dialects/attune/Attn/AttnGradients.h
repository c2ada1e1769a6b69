//===- AttnGradients.h - Building cotangents -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTNGRADIENTS_H
#define ATTUNE_ATTN_ATTNGRADIENTS_H

#include "AttnTerms.h"

namespace attune::attn::gradients {
using checks::shapeOf;
using terms::f32Of;
using Gradients = llvm::SmallVector<mlir::Value>;
using Roles = llvm::ArrayRef<Role>;

/// The type of the cotangent of a value.
inline mlir::RankedTensorType typeLike(mlir::OpBuilder &builder, mlir::Value value) { return f32Of(builder, shapeOf(value)); }

mlir::ArrayAttr attributeOf(mlir::OpBuilder &builder, Roles roles);
/// Numbers along the roles that they do not have, with the sizes of `like`.
mlir::Value spread(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, Roles sourceRoles, mlir::Value like, Roles likeRoles);
/// Σ lhs · rhs over the roles that the result lacks; what a factor of lhs that is 0 multiplies may be anything. An equal one of the
/// block, which is built from its begin to its end, is taken again.
mlir::Value contract(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, Roles lhsRoles, mlir::Value rhs, Roles rhsRoles,
                     Roles resultRoles);
/// The sum over the heads that share one of `heads`; of a parameter these are its first dimension.
mlir::Value sumHeads(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, int64_t heads, bool parameter = false);
mlir::Value scaled(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source, double factor);
/// Either may be null: then it counts as 0. Null if both are.
mlir::Value sum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs);
/// Tokens with 0 for those that do not exist; themselves if there are no lengths.
mlir::Value existing(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tokens, mlir::Value lengths);
} // namespace attune::attn::gradients

#endif // ATTUNE_ATTN_ATTNGRADIENTS_H
