//===- Partition.h - What fuses: from terms to families -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PARTITION_H
#define ATTUNE_LIB_KERNEL_PARTITION_H

#include "attune/Attn/Attn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// A function recognised as one of the families; values are arguments of the function, or null.
struct Partition {
  attn::Form form;
  mlir::Value query, key, value, lengths, initialState, initialSum;
  attn::FeatureMapAttr map;     ///< null for softmax
  attn::DenominatorAttr guard;  ///< null for softmax
  double scale = 1;             ///< of softmax
  bool causal = false;
  bool lse = false, finalState = false; ///< which optional results are returned after the output
};

/// The family of a function's body; an error at the op that no family has.
mlir::FailureOr<Partition> partition(mlir::func::FuncOp function);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PARTITION_H
