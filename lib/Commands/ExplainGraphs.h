//===- ExplainGraphs.h - A function before and after its laws --------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_EXPLAINGRAPHS_H
#define ATTUNE_COMMANDS_EXPLAINGRAPHS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// Words as HTML and XML have them, between quotes too.
std::string escaped(llvm::StringRef words);

/// An SVG element of the ops of `function`, the class "changed" on those that `other` does not have.
void drawGraph(mlir::func::FuncOp function, mlir::func::FuncOp other, llvm::raw_ostream &os);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_EXPLAINGRAPHS_H
