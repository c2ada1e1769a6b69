//===- Places.h - Which elements of a tile a thread has -*- C++ -*-------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of TileLayouts.h as code of the thread: warp, lane and what follows from them are values there.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_LOWERING_GPU_PLACES_H
#define ATTUNE_LIB_LOWERING_GPU_PLACES_H

#include "KernelState.h"

namespace attune::device {

/// Row of half `half` of block `rowBlock` in a `c` fragment: i32.
mlir::Value fragmentRow(KernelState &state, const tile::FragmentLayout &layout, int64_t rowBlock, int64_t half);
/// First column of the pair in block `block` of a `c` fragment: i32.
mlir::Value fragmentColumn(KernelState &state, const tile::FragmentLayout &layout, int64_t block);
/// Position of an element among those of a thread.
inline int64_t fragmentElement(const tile::FragmentLayout &layout, int64_t rowBlock, int64_t block, int64_t half,
                               int64_t second) {
  return (rowBlock * layout.columnBlocks() + block) * 4 + half * 2 + second;
}

/// The element of a rank-1 tile that is number `index` of a thread: i32.
mlir::Value slicePlace(KernelState &state, const tile::SliceLayout &layout, int64_t index);
/// i1: of the lanes and warps that hold the same elements of a rank-1 tile, this one writes.
mlir::Value sliceWriter(KernelState &state, const tile::SliceLayout &layout);

/// Elements of a tile that a thread has, whatever its layout.
int64_t elementCount(mlir::RankedTensorType type);
tile::SliceLayout sliceLayout(mlir::Value tile);

/// The elements of a tile in registers, one value each; 16-bit elements are taken out of their pairs.
llvm::SmallVector<mlir::Value> elementsOf(KernelState &state, mlir::Value tile);
/// The registers of a tile of these elements.
llvm::SmallVector<mlir::Value> registersOf(KernelState &state, mlir::Type element, llvm::ArrayRef<mlir::Value> elements);

} // namespace attune::device

#endif // ATTUNE_LIB_LOWERING_GPU_PLACES_H
