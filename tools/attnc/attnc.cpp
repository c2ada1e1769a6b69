//===- attnc.cpp - The compiler driver ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Commands/Commands.h"
#include "attune/Support/CleanUp.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <new>
#include <unistd.h>

using namespace attune::attnc;

/// There is nothing left to print with, but for what the system does itself.
[[noreturn]] static void endWithoutMemory() {
  constexpr llvm::StringLiteral message =
      "attnc: error: expected more memory, but this machine or this process may have none; make the sizes smaller\n";
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  attune::removeAll();
  ::_exit(Failed);
}

/// The status, unless standard output could not take all that was printed: a full disk.
static int afterOutput(int status) {
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  return code ? fail("expected to write standard output, but got: " + code.message()) : status;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  // A file that is opened while standard output is closed would become standard output.
  (void)llvm::sys::Process::FixupStandardFileDescriptors();
  std::signal(SIGCHLD, SIG_DFL); // whoever ignores it does so for its children too, which then cannot wait for theirs
  attune::removeOnSignals();
  std::set_new_handler(endWithoutMemory);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { endWithoutMemory(); });
  std::optional<Arguments> arguments = parseArguments(argc, argv);
  if (!arguments)
    return Wrong;
  return afterOutput(arguments->help ? static_cast<int>(Done) : execute(*arguments));
}
