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

#include <memory>

namespace attune::emulator {

/// LLVM IR or bitcode; or MLIR: the first gpu.module of a file, already lowered to the LLVM and NVVM dialects. "-" is
/// the standard input. Null after a message on the standard error.
std::unique_ptr<llvm::Module> readModule(llvm::StringRef path, llvm::LLVMContext &context);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_READMODULE_H
