//===- Passes.h - From attn to tile -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_KERNEL_PASSES_H
#define ATTUNE_KERNEL_PASSES_H

#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include "mlir/Pass/Pass.h"

namespace attune::kernel {
#define GEN_PASS_DECL
#include "attune/Kernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Kernel/Passes.h.inc"
} // namespace attune::kernel

#endif // ATTUNE_KERNEL_PASSES_H
