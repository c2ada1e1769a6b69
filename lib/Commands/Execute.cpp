//===- Execute.cpp - One call of attnc ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"

#include "llvm/Support/ErrorHandling.h"

int attune::attnc::execute(const Arguments &arguments) {
  switch (arguments.command) {
  case Command::Compile:
    return compile(arguments);
  case Command::Init:
    return init(arguments);
  case Command::Run:
    return run(arguments);
  case Command::Explain:
    return explain(arguments);
  case Command::Bench:
    return bench(arguments);
  case Command::Suggest:
    return suggest(arguments);
  case Command::Import:
    return importNode(arguments);
  case Command::Calibrate:
    return calibrate(arguments);
  }
  llvm_unreachable("every command is above");
}
