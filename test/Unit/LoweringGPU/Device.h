//===- Device.h - Kernels compiled for a GPU, and run in the emulator -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_LOWERINGGPU_DEVICE_H
#define ATTUNE_TEST_LOWERINGGPU_DEVICE_H

#include "attune/Target/EmitDevice.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace attune::test {

/// A context with all dialects that kernels go through.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// One attention in the words of the attn dialect.
struct Attention {
  std::string form = "softmax"; ///< softmax, quadratic, state, chunked
  std::string dtype = "f16";
  int64_t heads = 2, sharedHeads = 2, width = 64, valueWidth = 64;
  bool causal = false, lengths = false;
  std::string schedule; ///< a tile.schedule; empty: the default

  std::string source() const;
};

/// Parses `source`, cuts it into kernels for a GPU and lowers them. Null, after diagnostics, if that fails. The host
/// function is taken away: these tests launch kernels themselves.
mlir::OwningOpRef<mlir::ModuleOp> compileKernels(mlir::MLIRContext &context, const std::string &source,
                                                 const std::string &chip = "sm_80");

} // namespace attune::test

#endif // ATTUNE_TEST_LOWERINGGPU_DEVICE_H
