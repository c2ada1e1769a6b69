//===- Passes.h - Passes from attn to attn -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_GRAPH_PASSES_H
#define ATTUNE_GRAPH_PASSES_H

#include "attune/Attn/Attn.h"
#include "attune/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace attune::graph {
#define GEN_PASS_DECL
#include "attune/Graph/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "attune/Graph/Passes.h.inc"
} // namespace attune::graph

#endif // ATTUNE_GRAPH_PASSES_H
