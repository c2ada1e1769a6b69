//===- LinkLibrary.h - Object code and the runtime to a shared library ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_LINKLIBRARY_H
#define ATTUNE_TARGET_LINKLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace attune::target {

struct LinkOptions {
  /// The runtime's archive; empty: findRuntimeArchive().
  std::string runtimeArchive = {};
  /// As findLinker takes it.
  std::string linker = {};
  /// How long the linker may take; absent: `toolSeconds` of Support/RunProgram.h.
  std::optional<unsigned> seconds = {};
};

/// Path of libattune_rt.a: the environment's ATTUNE_RUNTIME_ARCHIVE, else beside the program that runs (`../lib`, which
/// serves both the build tree and the install tree).
llvm::Expected<std::string> findRuntimeArchive();

/// Path of a linker, given by name or path: an ld.lld, or a compiler driver such as cc; empty: the first of ld.lld-22,
/// ld.lld, cc, gcc, clang that is on PATH.
llvm::Expected<std::string> findLinker(llvm::StringRef wanted = "");

/// Links a stripped shared library of the given soname at `path`, which appears whole or not at all. Only what the
/// object exports is exported; it needs nothing but the C library.
llvm::Error linkLibrary(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, llvm::StringRef soname,
                        llvm::StringRef path, const LinkOptions &options = {});

} // namespace attune::target

#endif // ATTUNE_TARGET_LINKLIBRARY_H
