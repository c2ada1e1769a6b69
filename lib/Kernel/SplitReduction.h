//===- SplitReduction.h - A stream of tokens in pieces -*- C++ -*---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SPLITREDUCTION_H
#define ATTUNE_LIB_KERNEL_SPLITREDUCTION_H

#include "attune/Tile/Tile.h"

namespace attune::kernel {

/// Splits the marked stream of a kernel (StepStream.h), which has these launches, as `tile-split-reduction` does. `pieces`: how many
/// where the stream does not say how long they are; 0: what the schedule says. False if there is nothing to split.
mlir::FailureOr<bool> splitReduction(tile::KernelOp kernel, llvm::ArrayRef<tile::LaunchOp> launches, int64_t pieces = 0);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SPLITREDUCTION_H
