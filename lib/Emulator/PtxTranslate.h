//===- PtxTranslate.h - PTX text as an LLVM module --------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A register is a variable of its bits, which promotion turns into values; a label is a block, a guard a branch around
// its instruction. Arithmetic becomes LLVM IR, with the results that the PTX ISA 9.0 asks for where the two differ
// (shifts by more than the width, division by zero, conversions out of range). What a device does and a host does not
// becomes a call of `attune.device.<name>`, where the name is that of an instruction of the machine
// (`findInstruction`). The handlers take operands by their position in the ISA's syntax, and name its section.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_PTXTRANSLATE_H
#define ATTUNE_EMULATOR_PTXTRANSLATE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace attune::ptx {

/// In front of the names of the machine's instructions.
inline constexpr llvm::StringLiteral devicePrefix = "attune.device.";
/// Metadata of instructions that may show in findings: their PTX and its line.
inline constexpr llvm::StringLiteral sourceMetadata = "attune.ptx";

struct Translation {
  std::unique_ptr<llvm::Module> module;
  unsigned target = 0; ///< 80 of sm_80
  bool specific = false;
};

/// Shared addresses count from `sharedBase`, as those of the hardware count from the begin of its window: an address
/// that was not converted with cvta shows itself.
llvm::Expected<Translation> translate(llvm::StringRef text, uint64_t sharedBase, llvm::LLVMContext &context);

} // namespace attune::ptx

#endif // ATTUNE_EMULATOR_PTXTRANSLATE_H
