//===- EmulatedAsm.h - The inline assembly that the emulator knows --*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ships is PTX text, which the emulator reads by itself (Ptx*.cpp): nothing here says what an instruction of it does.
// These strings serve two others. The lowering writes wgmma and its orders by WgmmaAsm and WgmmaOrderAsm
// (WgmmaSm90.cpp, OrderProducts.cpp) and finds them again before code generation. And device code that comes as LLVM IR, as in
// tests of single instructions, may hold the strings of the table: each does what an LLVM intrinsic does, or an instruction
// of the emulator's own (attune.*), with the operands in the same order; any other is refused.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_EMULATEDASM_H
#define ATTUNE_EMULATOR_EMULATEDASM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace attune {

struct EmulatedAsm {
  llvm::StringRef name; ///< for messages
  llvm::StringRef text; ///< the template of llvm.inline_asm
  llvm::StringRef constraints;
  llvm::StringRef instruction; ///< what it does, as an LLVM intrinsic or attune.*
};

llvm::ArrayRef<EmulatedAsm> emulatedAsmTable();
const EmulatedAsm *findEmulatedAsm(llvm::StringRef text);

/// wgmma.mma_async of m64 with sums in f32, operands of one type. The call takes the sums (as many as results), then A
/// (a descriptor, or four registers), the descriptor of B, and as i32 constants: whether the sums are added to (else
/// they are not read), the signs of A and B (1 or -1), and for 16-bit operands whether A (if in shared memory) and B
/// lie transposed.
struct WgmmaAsm {
  unsigned columns = 0;    ///< n: a multiple of 8, up to 256
  unsigned depth = 0;      ///< k: 16, or 8 of tf32
  llvm::StringRef element; ///< f16, bf16 or tf32
  bool registersOfA = false;

  unsigned sums() const { return columns / 2; }
  std::string text() const;
  std::string constraints() const;
};

/// wgmma.fence, or wgmma.wait_group, with the registers that it orders: they come in and go out again, floats (sums)
/// first, then words (A). Nothing that computes with them can then move to the other side. A wait takes the number of
/// groups that may be in flight after it, an i32 constant, as its last operand.
struct WgmmaOrderAsm {
  bool wait = false;
  unsigned floats = 0, words = 0;

  unsigned registers() const { return floats + words; }
  std::string text() const;
  std::string constraints() const;
};

/// The order that a string stands for, if it is one of these and has a register.
std::optional<WgmmaOrderAsm> findWgmmaOrderAsm(llvm::StringRef text, llvm::StringRef constraints);

/// The product that a string stands for, if it is one of these.
std::optional<WgmmaAsm> findWgmmaAsm(llvm::StringRef text, llvm::StringRef constraints);

} // namespace attune

#endif // ATTUNE_EMULATOR_EMULATEDASM_H
