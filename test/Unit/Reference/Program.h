//===- Program.h - A program in text, ready to be interpreted --------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_REFERENCE_PROGRAM_H
#define ATTUNE_TEST_UNIT_REFERENCE_PROGRAM_H

#include "attune/Reference/EvalAttn.h"
#include "attune/Reference/EvalTile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace attune::reference {

/// Parses a module and collects the messages of its diagnostics.
class Program {
public:
  explicit Program(llvm::StringRef text);

  bool parsed() const { return static_cast<bool>(module); }
  tile::KernelOp kernel();
  mlir::func::FuncOp host();
  /// Runs the only kernel, or the host function if there is one.
  bool runKernel(llvm::ArrayRef<int64_t> grid, llvm::ArrayRef<Argument> arguments, const EvalTileOptions &options = {});
  bool runHost(llvm::ArrayRef<Argument> arguments, const EvalTileOptions &options = {});
  /// The results of the function of attn ops; empty if it fails.
  std::vector<Array> runAttn(llvm::ArrayRef<Array> arguments, const EvalAttnOptions &options = {});

  std::string messages;

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Runs `body`, the ops of a kernel on %in and %out, over one program with arrays of the given types.
bool runBody(Program &program, const Array &in, const Array &out, Precision precision = Precision::Ideal);

/// The text of a kernel of grid(batch) with memories %in and %out.
std::string kernelText(llvm::StringRef inType, llvm::StringRef outType, llvm::StringRef body);

} // namespace attune::reference

#endif // ATTUNE_TEST_UNIT_REFERENCE_PROGRAM_H
