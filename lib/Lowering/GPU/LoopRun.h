//===- LoopRun.h - Loops of one body, one after another -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The summaries that a block of EVA sees lie in three ranges, and each has a loop with the same body. Unrolled as a body is,
// it is most of a kernel, and so of what the assembler has to do. Such loops become one body:
//
//     for range in 0 … 2:
//       from, end, what else differs = those of the range
//       the loop
//
// The steps and their order stay, so results are the same to the last bit.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_LOOPRUN_H
#define ATTUNE_LIB_LOWERING_GPU_LOOPRUN_H

#include "attune/Tile/Tile.h"

#include "llvm/ADT/MapVector.h"

namespace attune::device {

/// A loop and those that follow it with the same body: each takes what the one before carries, with scalars between them
/// at most.
struct LoopRun {
  llvm::SmallVector<tile::LoopOp> loops;
  /// Scalars from outside that the bodies do not share: of the first body's, those of all.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Value>> differing;

  explicit LoopRun(tile::LoopOp first);

private:
  bool append(tile::LoopOp next);
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_LOOPRUN_H
