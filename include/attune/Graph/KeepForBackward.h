//===- KeepForBackward.h - What the forward pass leaves for gradients -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backward pass computes again what it reads of the forward pass, unless a run has left it. Of exact attention, EVA or agents, whose output is the
// function's it needs o and the logarithms of the rows' sums, of which one is there anyway and the other is four bytes a row: to compute both again is
// two of the seven products of pairs that it has on a CPU, of nine on a GPU. So the forward function of a spec with gradients has `saved.lse` among its results.
//
// What else could be left (`savePoints`, of terms `pointsOfTerms`) is left where that is cheaper than to compute it again, which selection says of the
// plan that it takes (SavePrices.cpp), or where `pin: {save: all}` says so. Each is a result that a run may leave out, as is each such argument of the backward function.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_KEEPFORBACKWARD_H
#define ATTUNE_GRAPH_KEEPFORBACKWARD_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::graph {
/// Names, without `saved.`, of what a forward function leaves: a list of strings at the function, once that is decided.
inline constexpr llvm::StringLiteral savedAttr = "attn.saved";

/// The attention, softmax, EVA or agents, whose output is a result of the function, where a backward pass takes what it leaves; null if there is none.
/// Of a backward function, or one of terms, EVA is its joint softmax, and agents are the outer of their two. With permission for another function
/// (`attn.allow`) nothing is kept: which one is computed is not known before prices are. Nor is it of image blocks, whose rows lie in another order.
mlir::Operation *keptAttention(mlir::func::FuncOp function);

/// The same attention, attn.softmax, attn.eva, attn.eva_mix or attn.agent, with the logarithms of its rows' sums as a second result.
mlir::Operation *withSums(mlir::Operation *attention);

/// Has the function return `saved.lse`, unless it returns those numbers already.
void keepForBackward(mlir::func::FuncOp function);

/// What a run could leave: values by their names, the first of which are results of an op. Sums of rows have no value before they are asked for.
struct SavePoint {
  mlir::Operation *op;
  llvm::SmallVector<std::string, 2> names;
  llvm::SmallVector<mlir::Value, 2> values;

  /// Of the op's first results.
  SavePoint(mlir::Operation *op, llvm::ArrayRef<std::string> names);
  /// Leaves out names and their values.
  void keepOnly(llvm::function_ref<bool(llvm::StringRef)> isWanted);
};

/// Of a function, or a plan of it: the queries, keys and values that a layer projects (`q`, `k`, `v`, by their weights wq, wk, wv), keys and values
/// over fewer slots (`slots_k`, `slots_v`), output and sums of an exact attention behind which something else follows (`o`, `lse`).
llvm::SmallVector<SavePoint> savePoints(mlir::func::FuncOp function);

/// Of a function of terms, or a plan: the state that all queries read, of the only such attention (`state`, `sum`, and, where features stand in units of
/// their largest ones, `maximum`; of EFFATT `state` and `feature_lse`).
std::optional<SavePoint> statePoint(mlir::func::FuncOp function);

/// Of a function of terms: what the tokens of the only causal readout write whose keys erase (`written`).
std::optional<SavePoint> writtenPoint(mlir::func::FuncOp function);

/// Those two, if there are any.
llvm::SmallVector<SavePoint> pointsOfTerms(mlir::func::FuncOp function);

/// All of them of a function: those of terms are in a copy in `terms`, as its backward pass has it.
llvm::SmallVector<SavePoint> savePoints(mlir::func::FuncOp function, mlir::OwningOpRef<mlir::ModuleOp> &terms);

/// Which of them the backward pass of the function reads, by their names; none if it has no backward pass.
std::vector<std::string> savedThatBackwardReads(mlir::func::FuncOp function);

/// The op of a plan whose kernels store what that point of the function, or a part of its names, is; null if none do, as where a projection takes place in the load of its reader.
mlir::Operation *storingOp(mlir::func::FuncOp plan, const SavePoint &wanted);

/// Has a plan return what those names say. What it does not store is made beside the rest, as the function that the plan is of
/// has it.
void keepInPlan(mlir::func::FuncOp plan, mlir::func::FuncOp original, llvm::ArrayRef<std::string> names);

/// The names that a function's attribute `attn.saved` lists; nothing if it has none.
std::optional<std::vector<std::string>> savedNames(mlir::func::FuncOp function);
void setSavedNames(mlir::func::FuncOp function, llvm::ArrayRef<std::string> names);
} // namespace attune::graph

#endif // ATTUNE_GRAPH_KEEPFORBACKWARD_H
