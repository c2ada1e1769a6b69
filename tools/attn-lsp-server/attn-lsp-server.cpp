//===- attn-lsp-server.cpp - Language server for files with Attune's dialects -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process of MLIR's server with our dialects, and before it a relay that adds what ops mean. Options that ask for
// another framing of messages, as MLIR's own tests do, or for help, start that server alone.
//
//===----------------------------------------------------------------------===//
#include "Relay.h"

#include "attune/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attune::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

static int failure() {
  std::fprintf(stderr, "attn-lsp-server: expected to start a process for the server, but got: %s\n",
               std::strerror(errno));
  return 1;
}

/// Between the editor on standard input and output and the server behind the pipes.
static int relay(int toServer, int fromServer, pid_t server) {
  // A server that has ended is seen by the end of its output.
  std::signal(SIGPIPE, SIG_IGN);
  std::FILE *input = fdopen(toServer, "w"), *output = fdopen(fromServer, "r");
  if (!input || !output)
    return failure();
  static attune::lsp::Relay relay;
  // It may wait for an editor that says nothing more when the server has ended; `_exit` does not wait for it.
  std::thread([input] {
    relay.passToServer(stdin, input);
    std::fclose(input);
  }).detach();
  relay.passToEditor(output, stdout);
  int status = 0;
  waitpid(server, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static bool wantsServerAlone(llvm::StringRef argument) {
  argument = argument.ltrim('-');
  return argument == "lit-test" || argument == "version" || argument.starts_with("input-style") ||
         argument.starts_with("help");
}

int main(int argc, char **argv) {
  if (llvm::any_of(llvm::ArrayRef(argv, argc).drop_front(), wantsServerAlone))
    return serve(argc, argv);
  int toServer[2], fromServer[2];
  if (pipe(toServer) != 0 || pipe(fromServer) != 0)
    return failure();
  pid_t server = fork();
  if (server < 0)
    return failure();
  if (server != 0) {
    close(toServer[0]), close(fromServer[1]);
    return relay(toServer[1], fromServer[0], server);
  }
  dup2(toServer[0], STDIN_FILENO), dup2(fromServer[1], STDOUT_FILENO);
  for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
    close(end);
  return serve(argc, argv);
}
