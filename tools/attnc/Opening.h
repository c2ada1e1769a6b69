//===- Opening.h - A file is read within a time -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TOOLS_ATTNC_OPENING_H
#define ATTUNE_TOOLS_ATTNC_OPENING_H

#include "Arguments.h"

#include "attune/Pipeline/Compilation.h"

#include <memory>

namespace attune::attnc {

/// `Compilation::open` of the spec or module of a command. Should that take more than `toolSeconds()`, the program ends
/// with a message and status 2: attributes of broken bytecode that name each other keep MLIR's reader busy without end.
std::unique_ptr<Compilation> openWithin(const std::string &path, llvm::StringRef target, int &status);

} // namespace attune::attnc

#endif // ATTUNE_TOOLS_ATTNC_OPENING_H
