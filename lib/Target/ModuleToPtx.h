//===- ModuleToPtx.h - One LLVM module to PTX -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_MODULETOPTX_H
#define ATTUNE_TARGET_MODULETOPTX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace attune {

inline constexpr llvm::StringLiteral deviceTriple = "nvptx64-nvidia-cuda";

/// Simplifies a module of kernels and prints it as PTX for `chip`.
llvm::Expected<std::string> moduleToPtx(llvm::Module &device, llvm::StringRef chip);

/// The same by at most `threads` threads, each with some of the kernels; the text does not depend on their number.
llvm::Expected<std::string> moduleToPtxInParts(llvm::Module &device, llvm::StringRef chip, unsigned threads);

} // namespace attune

#endif // ATTUNE_TARGET_MODULETOPTX_H
