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
// What a library tells its callers of the tensors of its host functions, on each of their arguments. The arguments stand
// in this order: inputs, outputs, optional inputs and outputs where they belong, parameters, prepared tensors; every plan
// of a library has the same.

/// String: its name in the spec (SPEC §4; lse, final_state.s … for optional results); of a prepared tensor any other.
inline constexpr llvm::StringLiteral argumentNameAttr = "attune.name";
/// Type: the tensor that it was as a value, with the sizes that are known when compiling.
inline constexpr llvm::StringLiteral argumentTensorAttr = "attune.tensor";
/// Integer, on inputs and parameters: the number of the argument that it was in the attn function.
inline constexpr llvm::StringLiteral argumentPositionAttr = "attune.argument";
/// String: input, output, optional_input, optional_output, parameter (given to prepare and copied) or prepared (f32 or
/// i32 of static sizes, owned by the library, filled by the prepare function). Absent: input.
inline constexpr llvm::StringLiteral argumentRoleAttr = "attune.role";
/// String, a letter a dimension: b(atch), q(ueries), k(eys), or a dot for a size that is always static. "b.q.".
inline constexpr llvm::StringLiteral argumentDimsAttr = "attune.dims";
/// What the runtime checks of the elements. Unit: lengths in 0 … keys.
inline constexpr llvm::StringLiteral argumentKeyLengthsAttr = "attune.key_lengths";
/// Where sequences begin that lie end to end: the letters of the tokens that these offsets cut, q, k or qk.
inline constexpr llvm::StringLiteral argumentOffsetsAttr = "attune.offsets";
/// Unit, on parameters: each is −1 or 1.
inline constexpr llvm::StringLiteral argumentSignsAttr = "attune.signs";
/// Integer, on parameters of i32: each is at least 0 and below it.
inline constexpr llvm::StringLiteral argumentIndexBoundAttr = "attune.index_bound";
/// Integer, on inputs of i32: each is at least 0, and so many tokens before those of the run, of which there are at most the integer
/// together; 0: as many as an i32 counts.
inline constexpr llvm::StringLiteral argumentPositionsAttr = "attune.positions";
/// String, on outputs: the input whose memory it may be.
inline constexpr llvm::StringLiteral argumentInPlaceAttr = "attune.in_place";
/// String, on outputs: what they hold if there are no keys at all: zero (if absent), minus_infinity, or computed, which
/// has the plan run with no keys (a bias that is added to whatever attention gives).
inline constexpr llvm::StringLiteral argumentEmptyAttr = "attune.empty";

/// Unit, on a host function: it needs as many queries as keys.
inline constexpr llvm::StringLiteral equalLengthsAttr = "attune.equal_lengths";
/// Array of dictionaries, on a host function: what it needs of sizes that only a run knows. `symbol` is "queries" or
/// "keys", `kind` what its size must be of the integer `value`: "divides" (a multiple), "equals", "at_most", or
/// "blocks_divide" (for keys: the number of blocks of `value` keys divides the number of queries).
inline constexpr llvm::StringLiteral sizeRulesAttr = "attune.size_rules";
/// String, on a host function: what the library computes, in one line.
inline constexpr llvm::StringLiteral summaryAttr = "attune.summary";
/// Unit, on the host function `<name>__prepare` that fills the prepared tensors: its arguments are those of the plans
/// with the role parameter and then those with the role prepared, in the same order and with the same names.
inline constexpr llvm::StringLiteral prepareAttr = "attune.prepare";

#define GEN_PASS_DECL
#include "attune/Kernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Kernel/Passes.h.inc"

/// From the attn dialect to kernels and host functions.
void buildTilePipeline(mlir::OpPassManager &manager, tile::TargetKind target);
} // namespace attune::kernel

#endif // ATTUNE_KERNEL_PASSES_H
