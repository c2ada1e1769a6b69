//===- HeadRange.h - Heads that may pass the range of 16 bits -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A denominator makes an output an average of values, which lies among them. Without one it is a sum, as large as
// features and keys make it. The output projection may bring such heads back into the range of the storage type, so it
// must not round them to f16 before.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_HEADRANGE_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_HEADRANGE_H

#include "attune/Attn/Attn.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attune::attn {

/// Of an argument that stands for heads of another function: they are sums.
inline constexpr llvm::StringLiteral sumsAttr = "attn.sums";

/// Is one of these heads a sum that nothing divides?
inline bool areSums(mlir::Value heads) {
  mlir::Operation *op = heads.getDefiningOp();
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(heads)) {
    auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp());
    return function && function.getArgAttr(argument.getArgNumber(), sumsAttr);
  }
  if (auto lepe = llvm::dyn_cast_or_null<LepeOp>(op))
    return areSums(lepe.getSource());
  if (auto concat = llvm::dyn_cast_or_null<ConcatHeadsOp>(op))
    return llvm::any_of(concat.getParts(), areSums);
  auto normalize = llvm::dyn_cast_or_null<NormalizeOp>(op);
  return normalize && !normalize.getDenominator();
}

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_HEADRANGE_H
