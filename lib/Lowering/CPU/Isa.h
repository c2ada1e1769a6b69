//===- Isa.h - What the lowering knows of an instruction set -------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_ISA_H
#define ATTUNE_LOWERING_CPU_ISA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace attune::cpu {

/// An x86-64 instruction set that code is emitted for.
struct Isa {
  llvm::StringRef name;                     ///< as in options and symbols
  llvm::StringRef cpu;                      ///< LLVM's name of a processor to schedule for
  llvm::ArrayRef<llvm::StringRef> features; ///< LLVM's feature flags
  int64_t lanes;                            ///< f32 elements of a vector
  int64_t blockRows;                        ///< most rows of a dot's register block
  int64_t blockVectors;                     ///< most vectors of a row of it
  bool bf16Dots = false;                    ///< has dot products of pairs of bf16 numbers
  bool tiles = false;                       ///< has products of tiles of them
};

/// The instruction set of that name; null if there is none.
const Isa *findIsa(llvm::StringRef name);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_ISA_H
