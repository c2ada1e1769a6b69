//===- EmitObject.h - LLVM IR to x86-64 machine code ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_EMITOBJECT_H
#define ATTUNE_TARGET_EMITOBJECT_H

#include "attune-rt/Descriptor.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace attune::target {

struct ObjectOptions {
  /// Optimise the IR and the code; false only generates code, in a quarter of the time.
  bool optimize = true;
};

/// Sets the features that code of a CPU target may use (what the runtime checks for that target, and no more) and the
/// tuning for it; full-width vectors for AVX-512. The module itself is for plain x86-64.
void setCpuTarget(llvm::Function &function, attune_rt_target target);

/// Gives the module the triple and data layout of x86-64 Linux. emitObject does it too.
llvm::Error setHostLayout(llvm::Module &module);

/// Position-independent relocatable object code. Changes the module (it is optimised in place).
llvm::Expected<llvm::SmallVector<char, 0>> emitObject(llvm::Module &module, const ObjectOptions &options = {});

/// The same as assembly text.
llvm::Expected<std::string> emitAssembly(llvm::Module &module, const ObjectOptions &options = {});

} // namespace attune::target

#endif // ATTUNE_TARGET_EMITOBJECT_H
