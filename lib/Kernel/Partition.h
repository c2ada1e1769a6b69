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

/// Terms recognised as one of the families; values of the attn function, or null.
struct Partition {
  attn::Form form;
  mlir::Value query, key, value, lengths, initialState, initialSum;
  mlir::Value lse, finalState, finalSum; ///< optional results
  mlir::Value parameter, shift;          ///< of the feature map
  attn::FeatureMapAttr map;              ///< null for softmax
  attn::DenominatorAttr guard;           ///< null for softmax
  attn::WindowAttr window;               ///< null without windows
  double scale = 1;                      ///< of softmax
  bool causal = false;
  bool grouped = false; ///< chunked: the query heads of a key-value head share its state
  bool fused = false;   ///< state: made and read in one kernel
  bool merged = false;  ///< state: its pieces are merged in the kernel that makes them
  bool split = false;   ///< chunked: parts of the sequence side by side
  bool mapsAlone = false; ///< a kernel of its own maps the keys
};

/// The family of the attention whose output `root` makes; none if no family has it.
std::optional<Partition> partition(mlir::Operation *root);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PARTITION_H
