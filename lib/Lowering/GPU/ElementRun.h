//===- ElementRun.h - Arithmetic on tiles, element after element -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operation after operation, a chain of arithmetic would hold a register for every element of every tile in between, and
// the assembler does not undo it: the angles of a rotation alone would take three tiles beside what is rotated. So
// operations that follow one another wait, and are emitted element after element: a chain then holds what goes in, what
// comes out, and one element of what is between.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_ELEMENTRUN_H
#define ATTUNE_LIB_LOWERING_GPU_ELEMENTRUN_H

#include "KernelState.h"

namespace attune::device {

/// Operations of a block that wait for each other.
class ElementRun {
public:
  explicit ElementRun(KernelState &state) : state(state) {}

  /// Takes an operation, if it is arithmetic on a tile of as many elements as those that wait.
  bool take(mlir::Operation *op);
  /// Emits what waits, unless an operation can come before it without holding anything longer.
  void flushBefore(mlir::Operation *op);
  void flush();

private:
  KernelState &state;
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t elements = 0; // of a thread, of each tile
};

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_ELEMENTRUN_H
