//===- Program.cpp - A program in text, ready to be interpreted ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "attune/Attn/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace attune;
using namespace attune::reference;

Program::Program(llvm::StringRef text) {
  context.loadDialect<attn::AttnDialect, tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return mlir::success();
  });
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
}

template <typename Op> static Op first(mlir::ModuleOp module) {
  auto ops = module.getOps<Op>();
  return ops.empty() ? Op() : *ops.begin();
}

tile::KernelOp Program::kernel() { return first<tile::KernelOp>(*module); }
mlir::func::FuncOp Program::host() { return first<mlir::func::FuncOp>(*module); }

bool Program::runKernel(llvm::ArrayRef<int64_t> grid, llvm::ArrayRef<Argument> arguments,
                            const EvalTileOptions &options) {
  return parsed() && mlir::succeeded(evalKernel(kernel(), grid, arguments, options));
}

bool Program::runHost(llvm::ArrayRef<Argument> arguments, const EvalTileOptions &options) {
  return parsed() && mlir::succeeded(evalTile(host(), arguments, options));
}

std::vector<Array> Program::runAttn(llvm::ArrayRef<Array> arguments, const EvalAttnOptions &options) {
  if (!parsed())
    return {};
  mlir::FailureOr<std::vector<Array>> results = evalAttn(host(), arguments, options);
  return mlir::succeeded(results) ? *results : std::vector<Array>();
}

bool attune::reference::runBody(Program &program, const Array &in, const Array &out, Precision precision) {
  EvalTileOptions options;
  options.precision = precision;
  return program.runKernel({1}, {in, out}, options);
}

std::string attune::reference::kernelText(llvm::StringRef inType, llvm::StringRef outType, llvm::StringRef body) {
  return ("tile.kernel @k(%in: " + inType + ", %out: " + outType + ") grid(batch) {\n%c0 = arith.constant 0 : index\n" +
          body + "\ntile.return\n}\n")
      .str();
}
