//===- SquareRegion.h - Tensor squares of tokens, and their gradient -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_SQUAREREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_SQUAREREGION_H

#include "Regions.h"

namespace attune::kernel {

/// result [batch, heads, tokens, r²]: x ⊗ x of tokens that lie in memory as they are, [batch, heads, tokens, r]; 0 of those that do not exist.
fusion::KernelRegion squareRegion(const Problem &problem, const Tokens &tokens, mlir::Value lengths, const Tokens &result);
/// result [batch, heads, tokens, r]: what reaches x where `cotangent` reaches x ⊗ x.
fusion::KernelRegion squareGradientRegion(const Problem &problem, const Tokens &tokens, mlir::Value lengths, const Tokens &cotangent, const Tokens &result);

/// The same of symmetric squares, [batch, heads, tokens, r (⌊r/2⌋ + 1)].
fusion::KernelRegion symmetricSquareRegion(const Problem &problem, const Tokens &tokens, mlir::Value lengths, const Tokens &result);
fusion::KernelRegion symmetricSquareGradientRegion(const Problem &problem, const Tokens &tokens, mlir::Value lengths, const Tokens &cotangent, const Tokens &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_SQUAREREGION_H
