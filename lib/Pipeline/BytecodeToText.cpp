//===- BytecodeToText.cpp - A file of bytecode, read apart from this process --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Pipeline/BytecodeToText.h"

#include "attune/Pipeline/Compilation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using Clock = std::chrono::steady_clock;

namespace attune {

/// What the child's first byte says of the others.
static constexpr char isText = 'T', areMessages = 'M';
/// Text is a few times as long as bytecode, whose length is limited before.
static constexpr size_t longestText = size_t(1) << 30;

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

/// No message, no core, no handler of the parent's.
static void beQuiet() {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM, SIGPIPE})
    std::signal(signal, SIG_DFL);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (int null = ::open("/dev/null", O_WRONLY); null >= 0)
    ::dup2(null, STDERR_FILENO);
}

static void writeText(MemoryBufferRef bytes, raw_ostream &out) {
  mlir::MLIRContext context(Compilation::registry(), mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  SourceMgr sources;
  // A copy, which lies aligned as sections of bytecode may ask for.
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(bytes.getBuffer(), bytes.getBufferIdentifier()), SMLoc());
  std::string messages;
  raw_string_ostream said(messages);
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, said);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&context, /*verifyAfterParse=*/false));
  if (module)
    module->print(out << isText, mlir::OpPrintingFlags().printGenericOpForm().enableDebugInfo());
  else
    out << areMessages << messages;
}

[[noreturn]] static void readInChild(MemoryBufferRef bytes, int pipe) {
  beQuiet();
  raw_fd_ostream out(pipe, /*shouldClose=*/false);
  writeText(bytes, out);
  out.flush();
  ::_exit(out.has_error());
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

/// What comes through the pipe before it is closed; false if it is not by then, or more comes than may.
static bool readUntil(int pipe, Clock::time_point end, std::string &bytes) {
  std::vector<char> buffer(1 << 16);
  while (bytes.size() <= longestText) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waited{pipe, POLLIN, 0};
    int ready = left > 0 ? ::poll(&waited, 1, static_cast<int>(std::min<int64_t>(left, 1000))) : 0;
    if (left <= 0)
      return false;
    if (ready <= 0)
      continue;
    ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count == 0)
      return true;
    if (count > 0)
      bytes.append(buffer.data(), count);
    else if (errno != EINTR)
      return true;
  }
  return false;
}

/// Whether the child wrote all and ended well; it is ended first if it is `late`.
static bool endedWell(pid_t child, bool late) {
  if (late)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static Error noProcess() {
  return createStringError("expected a process to read bytecode in, but got: " + Twine(std::strerror(errno)));
}

Expected<std::unique_ptr<MemoryBuffer>> bytecodeToText(MemoryBufferRef bytes, unsigned seconds, raw_ostream &errors) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return noProcess();
  pid_t child = ::fork();
  if (child == 0)
    readInChild(bytes, ends[1]);
  ::close(ends[1]);
  std::string said;
  bool inTime = child > 0 && readUntil(ends[0], Clock::now() + std::chrono::seconds(seconds), said);
  ::close(ends[0]);
  if (child < 0)
    return noProcess();
  bool well = endedWell(child, !inTime);
  if (!inTime)
    return createStringError("expected bytecode that MLIR reads within " + Twine(seconds) +
                             " s, but it did not; it may be broken; if it needs longer, set ATTUNE_TOOL_SECONDS to more seconds");
  if (!well || said.empty())
    return createStringError("expected bytecode that MLIR can read, but its reader broke down; write the file again, or give text");
  StringRef rest = StringRef(said).drop_front();
  if (said.front() == isText)
    return MemoryBuffer::getMemBufferCopy(rest, bytes.getBufferIdentifier());
  errors << rest;
  return nullptr;
}

} // namespace attune
