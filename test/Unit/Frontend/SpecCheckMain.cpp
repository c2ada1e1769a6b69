//===- SpecCheckMain.cpp - Checks specs: attune-spec-check SPEC ... ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what is wrong with each spec, then its status as `FILE: status N`, and exits with the largest of them. The
// fuzzer and the sanitizers run it: it has the frontend in it and nothing else.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"

#include <algorithm>

int main(int count, char **arguments) {
  int worst = count < 2 ? 2 : 0;
  for (int i = 1; i < count; ++i) {
    attune::Spec spec;
    int status = exitStatus(loadSpec(arguments[i], spec, llvm::errs()));
    llvm::outs() << arguments[i] << ": status " << status << '\n';
    worst = std::max(worst, status);
  }
  return worst;
}
