//===- SavedStates.h - The state of keys, which a run leaves for gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_SAVEDSTATES_H
#define ATTUNE_LIB_GRAPH_SAVEDSTATES_H

#include "attune/Graph/KeepForBackward.h"

#include "mlir/IR/IRMapping.h"

namespace attune::graph {

/// The quotient that a plan has of the rows that read a state; null if others read it.
mlir::Operation *quotientOfState(attn::StateOp state);

/// The op of a plan, attn.state or attn.effatt, whose kernels can store what `wanted` is in the function's terms; null: there is none.
mlir::Operation *storedState(mlir::func::FuncOp plan, const SavePoint &wanted);

/// The op with all that it reads, behind what the plan has; what the plan stores is read there.
mlir::Operation *cloneWithOperands(mlir::Operation *op, mlir::OpBuilder &builder, mlir::IRMapping &mapping);

/// The state that a plan leaves, as `wanted` is in the function's terms: its own, where kernels store it, else one beside the rest.
SavePoint stateInPlan(mlir::func::FuncOp plan, const SavePoint &wanted, mlir::OpBuilder &builder, mlir::IRMapping &mapping);

/// The quotient of a causal readout, under which prices know its kernels; null: others read the numerator.
mlir::Operation *quotientOf(attn::CausalReadoutOp readout);

/// The readout of a plan whose kernel can store what keys that erase write; null: there is none, or several query heads read the state of a key's.
attn::CausalReadoutOp storedWritten(mlir::func::FuncOp plan);

/// What the tokens of a plan write, as `wanted` is in the function's terms: by the plan's own readout, or else by one beside the rest.
SavePoint writtenInPlan(mlir::func::FuncOp plan, const SavePoint &wanted, mlir::OpBuilder &builder, mlir::IRMapping &mapping);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_SAVEDSTATES_H
