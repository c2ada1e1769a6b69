//===- Execution.h - How selection wants ops computed -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `#attn.execution` for C++, and what it says of the ops around an op. What the ops mean stays the same.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECTS_ATTUNE_ATTN_EXECUTION_H
#define ATTUNE_DIALECTS_ATTUNE_ATTN_EXECUTION_H

#include "attune/Attn/Attn.h"

namespace attune::attn {

/// The decisions about one op; all as nobody has decided.
struct Execution {
  TermForm form = TermForm::AsWritten;
  Values values = Values::AsUsual;
  bool split = false, grouped = false;
  Ending ending = Ending::MergeKernel;
  Launch launch = Launch::Sequential;

  /// Null where nothing has been decided.
  ExecutionAttr toAttr(mlir::MLIRContext *context) const;
};

/// Of an op that has none, nothing has been decided.
Execution executionOf(mlir::Operation *op);

/// Adds to what has been decided about an op that can carry it.
template <typename Change> void decide(mlir::Operation *op, Change change) {
  Execution execution = executionOf(op);
  change(execution);
  llvm::cast<ExecutableOpInterface>(op).setExecutionAttr(execution.toAttr(op->getContext()));
}

/// How a sketched attention is computed, which has the forms of a mechanism.
Form formOf(PolysketchOp op);

/// Whether whoever reads a tile of these tokens multiplies that tile of x by W in the load.
inline bool isInReader(ProjectOp op) { return executionOf(op).values == Values::Fused; }

/// The projection in the load of whoever reads these tokens; null if they are in memory.
ProjectOp projectionInLoad(mlir::Value tokens);

/// Whether the kernel that computes a block of queries does so for one head after another and adds o_h W_O[h] to the block's
/// rows of the result.
inline bool isInEpilogue(ProjectOutputOp op) { return executionOf(op).values == Values::Fused; }

/// The projection in the kernel that computes these heads, whose LePE may stand between; null if they are stored.
ProjectOutputOp projectionInEpilogue(mlir::Value heads);

/// Whether the features of keys are stored once, for all who read them.
inline bool isMappedAlone(MapOp op) { return executionOf(op).values == Values::Materialized; }

/// Whether the first kernels of all parts run in one launch, then the second ones.
inline bool runsTogether(ConcatHeadsOp op) { return executionOf(op).launch == Launch::CoLaunched; }

/// The op that makes the output of a part, before a convolution is added to it; null if it is an argument.
mlir::Operation *attentionOf(mlir::Value part);

} // namespace attune::attn

#endif // ATTUNE_DIALECTS_ATTUNE_ATTN_EXECUTION_H
