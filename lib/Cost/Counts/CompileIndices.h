//===- CompileIndices.h - Indices of kernels as arithmetic on sizes -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_COMPILEINDICES_H
#define ATTUNE_LIB_COST_COUNTS_COMPILEINDICES_H

#include "CountProgram.h"

#include "attune/Tile/Tile.h"

#include "llvm/ADT/DenseMap.h"

namespace attune::cost {

/// Compiles the indices that are asked for, and what they are computed from, in a kernel and in the host function that
/// launches it.
class IndexCompiler {
public:
  IndexCompiler(CountProgram &program, tile::LaunchOp launch, tile::KernelOp kernel);

  /// The register of an index. A number that is read from memory is the length of a sequence, and as large as can be:
  /// none, which a minimum takes for its other operand.
  mlir::FailureOr<std::optional<Register>> lengthOf(mlir::Value index);
  /// The same where a length as large as can be says nothing.
  mlir::FailureOr<Register> indexOf(mlir::Value index);
  mlir::FailureOr<Register> sizeOf(mlir::Value memory, unsigned dimension);

  /// Gives a loop its variable, and its number of steps.
  mlir::FailureOr<unsigned> enter(tile::LoopOp loop);
  void define(mlir::Value index, Register value) { known[index] = value; }

  /// Whether a memory of the kernel is a workspace of its host function.
  bool isWorkspace(mlir::BlockArgument memory) { return passed(memory).getDefiningOp<tile::WorkspaceOp>() != nullptr; }

private:
  using Length = mlir::FailureOr<std::optional<Register>>;
  Length compile(mlir::Value index);
  Length ofArgument(mlir::BlockArgument argument);
  Length ofBinary(mlir::Operation *op, Step step);
  Length ofDim(mlir::Operation *op);
  mlir::FailureOr<Register> sizeOfHostMemory(mlir::Value memory, unsigned dimension);
  Register inputOf(unsigned argument, unsigned dimension);
  /// What the launch passes for an argument of the kernel.
  mlir::Value passed(mlir::BlockArgument argument);

  CountProgram &program;
  tile::LaunchOp launch;
  tile::KernelOp kernel;
  llvm::DenseMap<mlir::Value, std::optional<Register>> known;
};

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_COMPILEINDICES_H
