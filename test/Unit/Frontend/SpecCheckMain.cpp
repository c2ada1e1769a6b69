//===- SpecCheckMain.cpp - Checks specs: attune-spec-check SPEC ... ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what is wrong with each spec, then its status as `FILE: status N`, and exits with the largest of them. A correct
// spec is also built in the attn dialect; status 1 without a message of ours would say that the verifier refused it. The
// fuzzer and the sanitizers run it: it has the frontend in it and nothing else.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecToAttn.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <algorithm>

static int check(llvm::StringRef path) {
  attune::Spec spec;
  attune::SpecStatus status = loadSpec(path, spec, llvm::errs());
  if (status != attune::SpecStatus::Good)
    return exitStatus(status);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = specToAttn(spec, path, context);
  return module && mlir::succeeded(mlir::verify(*module)) ? 0 : 1;
}

int main(int count, char **arguments) {
  int worst = count < 2 ? 2 : 0;
  for (int i = 1; i < count; ++i) {
    int status = check(arguments[i]);
    llvm::outs() << arguments[i] << ": status " << status << '\n';
    worst = std::max(worst, status);
  }
  return worst;
}
