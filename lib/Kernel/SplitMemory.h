//===- SplitMemory.h - Pieces of a stream whose state lies in memory -*- C++ -*- ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SPLITMEMORY_H
#define ATTUNE_LIB_KERNEL_SPLITMEMORY_H

#include "LaunchedKernel.h"
#include "StepStream.h"

namespace attune::kernel {

/// What `tile-split-reduction` does with a stream whose state lies in memory; `counts`: how many pieces there are, for each launch.
void splitInMemory(LaunchedKernel whole, StepStream stream, llvm::ArrayRef<mlir::Value> counts);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SPLITMEMORY_H
