//===- ReadModule.h - Reads device code from a file -------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_READMODULE_H
#define ATTUNE_EMULATOR_READMODULE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace attune::emulator {

/// The bytes of a file, or of the standard input for "-".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInput(llvm::StringRef path);
/// PTX begins with its version, behind comments.
bool isPtx(llvm::StringRef text);

/// LLVM IR or bitcode; or MLIR: the first gpu.module, already lowered to the LLVM and NVVM dialects. Null after a message
/// on the standard error.
std::unique_ptr<llvm::Module> readModule(llvm::MemoryBufferRef text, llvm::LLVMContext &context);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_READMODULE_H
