//===- Fail.cpp - How commands say what is wrong ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"

int attune::attnc::fail(const llvm::Twine &message, ExitStatus status) {
  llvm::errs() << "attnc: error: " << message << "\n";
  return status;
}

int attune::attnc::fail(llvm::Error error, ExitStatus status) {
  std::string message = llvm::toString(std::move(error));
  // Messages about a file carry their place themselves.
  if (llvm::StringRef(message).contains(": error: "))
    llvm::errs() << message << (llvm::StringRef(message).ends_with("\n") ? "" : "\n");
  else
    fail(llvm::Twine(message), status);
  return status;
}
