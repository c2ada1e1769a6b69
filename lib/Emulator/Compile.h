//===- Compile.h - Compiles the rewritten module for this machine --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_COMPILE_H
#define ATTUNE_EMULATOR_COMPILE_H

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"

namespace attune::emulator {

/// A just-in-time compiler for this machine; its data layout must be given to the module before it is rewritten.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> createHostCompiler();

/// Optimises the module and adds it.
llvm::Error addModule(llvm::orc::LLJIT &compiler, llvm::orc::ThreadSafeModule module);

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_COMPILE_H
