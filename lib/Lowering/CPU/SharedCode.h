//===- SharedCode.h - Kernels that are the same for several instruction sets -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_SHAREDCODE_H
#define ATTUNE_LOWERING_CPU_SHAREDCODE_H

#include "Isa.h"

#include "attune/Tile/Tile.h"

namespace attune::cpu {

/// The instruction set, of those that code is emitted for, whose kernel runs on this one. One with tiles, or with products of pairs, has a kernel of its
/// own where that uses them.
const Isa &codeOf(tile::KernelOp kernel, const Isa &isa, llvm::ArrayRef<const Isa *> targets);

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_SHAREDCODE_H
