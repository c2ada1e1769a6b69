//===- attnc.cpp - The compiler driver ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Commands.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune::attnc;

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

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<Arguments> arguments = parseArguments(argc, argv);
  if (!arguments)
    return Wrong;
  if (arguments->help)
    return Done;
  switch (arguments->command) {
  case Command::Compile:
    return compile(*arguments);
  case Command::Init:
    return attune::attnc::init(*arguments);
  case Command::Run:
    return run(*arguments);
  case Command::Explain:
    return explain(*arguments);
  case Command::Bench:
    return bench(*arguments);
  case Command::Suggest:
    return suggest(*arguments);
  case Command::Calibrate:
    return calibrate(*arguments);
  }
  return Failed;
}
