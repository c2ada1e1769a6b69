//===- Attn.h - The attn dialect -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_ATTN_ATTN_H
#define ATTUNE_ATTN_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attune::attn {
/// [batch, heads, tokens, width] of f32, f16 or bf16; heads and width are static and positive.
bool isTokens(mlir::Type type);

/// The number of heads of the features of tokens of `heads` heads: that of the map's parameter, if it has a row for
/// each.
int64_t mappedHeads(int64_t heads, mlir::Value parameter);
} // namespace attune::attn

#include "attune/Attn/AttnDialect.h.inc"
#include "attune/Attn/AttnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attune/Attn/AttnAttrs.h.inc"

namespace attune::attn {
/// A52: what the execution of an op says is among its decisions.
mlir::LogicalResult checkExecution(mlir::Operation *op, llvm::ArrayRef<llvm::StringLiteral> decisions);
} // namespace attune::attn

#include "attune/Attn/AttnInterfaces.h.inc"
#define GET_OP_CLASSES
#include "attune/Attn/AttnOps.h.inc"

namespace attune::attn {
/// φ(Q) and φ(K) of a kernel attention as terms before it: keys that do not exist have features 0, and where the
/// stabilizer of FAVOR cancels, it is the constant one.
std::pair<mlir::Value, mlir::Value> buildFeatures(mlir::OpBuilder &builder, KernelOp op);
/// The values as they enter the state.
mlir::Value buildWritten(mlir::OpBuilder &builder, KernelOp op);
/// The causal sums of features a and b, from the op's initial state on.
CausalReadoutOp buildCausalReadout(mlir::OpBuilder &builder, KernelOp op, mlir::Value a, mlir::Value b, ExecutionAttr execution);
/// The readout, whose keys erase and have a head for each one of queries, with `written` among its results: the op itself, or another in its place.
CausalReadoutOp withWritten(CausalReadoutOp op);
/// What the tokens of a readout whose keys erase write: its own result, or else that of one beside it, which is made here if there is none.
mlir::Value writtenOf(mlir::OpBuilder &builder, CausalReadoutOp op);
/// Those of these values that the op gives as its final state.
llvm::SmallVector<mlir::Value> finalStates(KernelOp op, mlir::Value state, mlir::Value sum, mlir::Value scale);
/// Whether the weight of a pair is a product of features times a number: not if every feature decays in its own way, nor if keys
/// erase others.
bool hasPairs(KernelOp op);

/// The operations of matrix products that the functions of a module need, whatever a plan executes: a multiply-add is two, and of
/// the exact forms (all pairs or a state; E before or after a projection) the one with the fewest counts. Nothing where a size is
/// not known, or where an op has no such number.
std::optional<double> usefulOperations(mlir::ModuleOp module);
} // namespace attune::attn

#endif // ATTUNE_ATTN_ATTN_H
