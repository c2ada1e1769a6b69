//===- Passes.h - From tile to the code of a CPU -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LOWERING_CPU_PASSES_H
#define ATTUNE_LOWERING_CPU_PASSES_H

#include "attune/Tile/Tile.h"

#include "mlir/Pass/Pass.h"

#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attune::cpu {

#define GEN_PASS_DECL
#include "attune/Lowering/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Lowering/CPU/Passes.h.inc"

} // namespace attune::cpu

#endif // ATTUNE_LOWERING_CPU_PASSES_H
