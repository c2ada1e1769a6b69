//===- SketchTree.h - The tree of a sketch -*- C++ -*---------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sketch multiplies p' sums of signed entries. A sum that cancels has few digits left in f32, and the product has as few
// as the worst of its factors: of sixteen one is often bad. From there on, and where sketches are so narrow that all of
// their entries may cancel at once, numbers inside the tree are sums of two f32 (docs/Rationale/Sketches.md).
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_SKETCHTREE_H
#define ATTUNE_LIB_KERNEL_SKETCHTREE_H

#include "Sketch.h"

namespace attune::kernel {

/// Whether the tree computes with sums of two f32.
bool hasPairs(const SketchMatrices &matrices);

/// The power of two next to each of x, at least 2^-120.
mlir::Value powerOfTwoNextTo(TileBuilder &tiles, mlir::Value x);

/// What tokens x [T, d] are divided by before the tree: their norm; with pairs the power of two next to it, which loses
/// nothing. 0 of null tokens: [T].
mlir::Value sketchLength(TileBuilder &tiles, mlir::Value x, bool pairs);

/// The root of the tree over x [T, d], whose rows are of norm about 1: [T, r].
mlir::Value sketchTree(TileBuilder &tiles, const KernelFrame &frame, const SketchMatrices &matrices, mlir::Value head,
                       mlir::Value x);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_SKETCHTREE_H
