//===- GatherParts.h - Sums of placed heads are heads side by side -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_GRAPH_GATHERPARTS_H
#define ATTUNE_LIB_GRAPH_GATHERPARTS_H

namespace mlir {
class Block;
} // namespace mlir

namespace attune::graph {

/// Rewrites sums of `attn.place_heads` that cover all heads as `attn.concat_heads`; leaves what nobody uses any more.
void gatherParts(mlir::Block &body);

} // namespace attune::graph

#endif // ATTUNE_LIB_GRAPH_GATHERPARTS_H
