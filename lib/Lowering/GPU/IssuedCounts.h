//===- IssuedCounts.h - What instructions do -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is counted where its code is made.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_ISSUEDCOUNTS_H
#define ATTUNE_LIB_LOWERING_GPU_ISSUEDCOUNTS_H

#include "attune/Tile/TileLayouts.h"

namespace attune::device {

/// Bytes of what one lane can ask memory for at once.
constexpr int64_t pieceBytes = 16;

/// How often the lanes of a warp exchange a word. Of the rows of a tile on their way between memory and registers in pieces (QuadChunks.cpp).
int64_t exchangesInPieces(const tile::FragmentLayout &layout, int64_t elementBytes);
/// Reductions.cpp
int64_t exchangesOf(tile::ReduceOp reduce);
/// Exchange.cpp
int64_t exchangesOf(tile::PermuteColumnsOp permute);

/// Elements of a rank-1 constant that are read from memory (Constants.cpp).
int64_t tableElements(const tile::SliceLayout &layout);
/// Arithmetic on an element for a function that is no instruction; 0 of others (Functions.cpp).
int64_t operationsOf(mlir::Operation *op);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_ISSUEDCOUNTS_H
