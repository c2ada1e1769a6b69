//===- VetBytecode.cpp - Whether MLIR can read a file of bytecode -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/VetBytecode.h"

#include "attune/Pipeline/Compilation.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace attune {

/// In the child: no message, no core, no handler of the parent's.
static void beQuiet() {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM})
    std::signal(signal, SIG_DFL);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (int null = ::open("/dev/null", O_WRONLY); null >= 0)
    ::dup2(null, STDERR_FILENO);
}

[[noreturn]] static void readInChild(MemoryBufferRef bytes) {
  beQuiet();
  mlir::MLIRContext context(Compilation::registry(), mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  SourceMgr sources;
  // A copy, which lies aligned as sections of bytecode may ask for.
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(bytes.getBuffer(), bytes.getBufferIdentifier()), SMLoc());
  mlir::Block block;
  (void)mlir::parseSourceFile(sources, &block, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  ::_exit(0);
}

/// How the child ended; nothing if it has not by then.
static std::optional<int> waitUntil(pid_t child, Clock::time_point end) {
  constexpr std::chrono::microseconds longest(10000);
  int status = 0;
  for (std::chrono::microseconds pause(100); ::waitpid(child, &status, WNOHANG) != child;
       pause = std::min(2 * pause, longest)) {
    if (Clock::now() >= end)
      return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
  return status;
}

Error vetBytecode(MemoryBufferRef bytes, unsigned seconds) {
  pid_t child = ::fork();
  if (child < 0)
    return createStringError("expected a process to read bytecode in, but got: " + Twine(std::strerror(errno)));
  if (child == 0)
    readInChild(bytes);
  std::optional<int> status = waitUntil(child, Clock::now() + std::chrono::seconds(seconds));
  if (!status) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return createStringError(
        "expected bytecode that MLIR reads within " + Twine(seconds) +
        " s, but it did not; it may be broken; if it needs longer, set ATTUNE_TOOL_SECONDS to more seconds");
  }
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return createStringError(
        "expected bytecode that MLIR can read, but its reader broke down; write the file again, or give text");
  return Error::success();
}

} // namespace attune
