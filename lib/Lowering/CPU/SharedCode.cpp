//===- SharedCode.cpp - Kernels that are the same for several instruction sets ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   amx          without products of tiles                              is avx512_bf16
//   avx512_bf16  without products of pairs and numbers rounded to bf16   is avx512
//
// if the library has code for the latter. To generate code is most of the time of a compilation.
//
//===----------------------------------------------------------------------===//
#include "SharedCode.h"

#include "Amx.h"

using namespace mlir;
using namespace attune;
using namespace attune::cpu;

/// Whether an op's results or memory hold bf16 numbers that it makes of others, or multiplies.
static bool needsBf16(Operation *op) {
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return cast<RankedTensorType>(dot.getA().getType()).getElementType().isBF16();
  auto isBf16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  if (isa<tile::LoadOp>(op))
    return false;
  return llvm::any_of(op->getResultTypes(), isBf16) || (isa<tile::StoreOp>(op) && llvm::any_of(op->getOperandTypes(), isBf16));
}

static bool usesBf16(tile::KernelOp kernel) {
  return kernel->walk([](Operation *op) { return needsBf16(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

const Isa &cpu::codeOf(tile::KernelOp kernel, const Isa &isa, ArrayRef<const Isa *> targets) {
  StringRef simpler = isa.tiles && !tileNames(kernel, isa) ? "avx512_bf16" : !isa.tiles && isa.bf16Dots && !usesBf16(kernel) ? "avx512" : "";
  const auto *found = llvm::find_if(targets, [&](const Isa *each) { return each->name == simpler; });
  return found == targets.end() ? isa : codeOf(kernel, **found, targets);
}
