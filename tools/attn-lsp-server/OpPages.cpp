//===- OpPages.cpp - What the language server says of an op ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OpPages.h"

#include "llvm/ADT/STLExtras.h"

#include <iterator>

namespace {
struct OpPage {
  llvm::StringLiteral name, text;
};
} // namespace

/// In the order of names.
static constexpr OpPage pages[] = {
#include "OpPages.inc"
};

llvm::StringRef attune::lsp::pageOf(llvm::StringRef op) {
  const OpPage *found =
      llvm::lower_bound(pages, op, [](const OpPage &page, llvm::StringRef name) { return page.name < name; });
  return found != std::end(pages) && found->name == op ? llvm::StringRef(found->text) : llvm::StringRef();
}
