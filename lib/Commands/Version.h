//===- Version.h - attnc --version ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMMANDS_VERSION_H
#define ATTUNE_COMMANDS_VERSION_H

#include "llvm/Support/raw_ostream.h"

namespace attune::attnc {

/// Versions of Attune and of LLVM, the targets, with what cubins are made, and the files that make up the compiler.
void printVersion(llvm::raw_ostream &out);

} // namespace attune::attnc

#endif // ATTUNE_COMMANDS_VERSION_H
