//===- EmulatedAsm.h - The inline assembly that the emulator knows --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table for the code that emits inline assembly and the emulator that runs it, so that the set of strings is
// closed: emit a string by its name here, and it can be emulated. Each string is defined to do what an LLVM intrinsic
// does, with the operands in the same order.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_EMULATEDASM_H
#define ATTUNE_EMULATOR_EMULATEDASM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace attune {

struct EmulatedAsm {
  llvm::StringRef name; ///< for the emitter
  llvm::StringRef text; ///< the template of llvm.inline_asm
  llvm::StringRef constraints;
  llvm::StringRef instruction; ///< what it does, as an LLVM intrinsic
};

llvm::ArrayRef<EmulatedAsm> emulatedAsmTable();
const EmulatedAsm *findEmulatedAsm(llvm::StringRef text);

} // namespace attune

#endif // ATTUNE_EMULATOR_EMULATEDASM_H
