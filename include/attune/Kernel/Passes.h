//===- Passes.h - From attn to tile -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_PASSES_H
#define ATTUNE_KERNEL_PASSES_H

#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include "mlir/Pass/Pass.h"

namespace attune::kernel {
/// On each argument of a host function: its name in the spec (SPEC §4; lse, final_state … for optional results), and
/// the tensor type that it had as a value, with the sizes that are known when compiling.
inline constexpr llvm::StringLiteral argumentNameAttr = "attune.name";
inline constexpr llvm::StringLiteral argumentTensorAttr = "attune.tensor";
/// On an input: the number of the argument that it was.
inline constexpr llvm::StringLiteral argumentPositionAttr = "attune.argument";
/// On a host function: it needs as many queries as keys.
inline constexpr llvm::StringLiteral equalLengthsAttr = "attune.equal_lengths";

#define GEN_PASS_DECL
#include "attune/Kernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

#endif // ATTUNE_KERNEL_PASSES_H
