//===- Passes.h - What kernels do, printed -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_PASSES_H
#define ATTUNE_COST_PASSES_H

#include "attune/Tile/Tile.h"

#include "mlir/Pass/Pass.h"

namespace attune::cost {
#define GEN_PASS_DECL
#include "attune/Cost/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Cost/Passes.h.inc"
} // namespace attune::cost

#endif // ATTUNE_COST_PASSES_H
