//===- Relay.h - Adds the pages of ops to another server's hovers -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server shows results and generic form of the op under the cursor, and has no hook for more. The relay
// stands between the editor and that server: it passes every message on as it is, but for the answers to hovers over
// the name of an op that has a page; to those it adds the page. So it must know the texts that the editor has open.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LSP_RELAY_H
#define ATTUNE_LSP_RELAY_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <cstdio>
#include <mutex>
#include <string>

namespace attune::lsp {

class Relay {
public:
  /// Messages from the editor to the server, until there are no more.
  void passToServer(std::FILE *editor, std::FILE *server);
  /// Messages from the server to the editor, until there are no more.
  void passToEditor(std::FILE *server, std::FILE *editor);

private:
  void see(const llvm::json::Object &message);
  void seeHover(const llvm::json::Object &message, const llvm::json::Object &params);
  /// Adds the page to the server's answer, if the question was about an op.
  bool complete(llvm::json::Object &message);

  /// The texts that are open, by their addresses.
  llvm::StringMap<std::string> texts;
  /// Pages of the hovers that the server has not answered, by the questions' ids.
  llvm::StringMap<llvm::StringRef> asked;
  std::mutex askedMutex;
};

} // namespace attune::lsp

#endif // ATTUNE_LSP_RELAY_H
