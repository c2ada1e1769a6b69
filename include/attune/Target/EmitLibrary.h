//===- EmitLibrary.h - LLVM IR to a shared library, the whole way ---------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITLIBRARY_H
#define ATTUNE_TARGET_EMITLIBRARY_H

#include "attune/Target/EmitObject.h"
#include "attune/Target/LibraryDescription.h"
#include "attune/Target/LinkLibrary.h"

#include <memory>

namespace attune::target {

struct LibraryOptions {
  ObjectOptions object = {};
  LinkOptions link = {};
};

/// Adds the descriptor and the entry points to a module that holds the kernels and host functions of every plan; what
/// emitLibrary does first, and all that `--emit llvm` leaves out.
llvm::Error completeModule(llvm::Module &module, const LibraryDescription &description);

/// Writes the library `lib<name>.so` to `path`. The header is emitHeader's.
llvm::Error emitLibrary(std::unique_ptr<llvm::Module> module, const LibraryDescription &description,
                        llvm::StringRef path, const LibraryOptions &options = {});

} // namespace attune::target

#endif // ATTUNE_TARGET_EMITLIBRARY_H
