//===- ExplainPage.h - A selection as one HTML page ------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_EXPLAINPAGE_H
#define ATTUNE_COMMANDS_EXPLAINPAGE_H

#include "attune/Graph/Selection.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// A page that needs no other file, no network and no script: for each function what answers, its ops before the laws
/// and after them, its kernels by their share of the time, prices over the length, and every form with its price. Each
/// number stands beside its exact value (`data-…`); `json`, what `--json` prints, is in the element with id "explain".
void writePage(const graph::Selection &selection, mlir::ModuleOp before, mlir::ModuleOp after,
               const llvm::json::Value &json, llvm::StringRef title, llvm::raw_ostream &os);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_EXPLAINPAGE_H
