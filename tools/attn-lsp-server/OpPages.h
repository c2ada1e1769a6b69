//===- OpPages.h - What the language server says of an op -*- C++ -*--------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LSP_OPPAGES_H
#define ATTUNE_LSP_OPPAGES_H

#include "llvm/ADT/StringRef.h"

namespace attune::lsp {

/// The op's definition as Markdown; empty for a word that is no op of Attune's.
llvm::StringRef pageOf(llvm::StringRef op);

} // namespace attune::lsp

#endif // ATTUNE_LSP_OPPAGES_H
