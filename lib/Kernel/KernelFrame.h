//===- KernelFrame.h - What the kernels of all families begin with -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_KERNELFRAME_H
#define ATTUNE_LIB_KERNEL_KERNELFRAME_H

#include "Families.h"
#include "TileBuilder.h"

namespace attune::kernel {

/// A kernel under construction: its arguments are the memories that it was asked to take, in that order.
class KernelFrame {
public:
  /// Makes `<problem.name>_<suffix>` with an argument for each memory that is not null.
  KernelFrame(BuildSite &site, const Problem &problem, llvm::StringRef suffix, llvm::ArrayRef<tile::Axis> grid,
              llvm::ArrayRef<mlir::Value> memories);

  /// The kernel's argument for a memory of the host; null for a null memory.
  mlir::Value operator[](mlir::Value hostMemory) const;

  /// Ends the kernel and launches it from the host with these grid sizes.
  void finish(BuildSite &site, mlir::ValueRange gridSizes);

  mlir::OpBuilder builder;
  TileBuilder tiles;
  tile::KernelOp kernel;

private:
  llvm::SmallVector<mlir::Value> hostMemories;
};

/// The keys that queries i … i + rows − 1 can see.
struct VisibleKeys {
  mlir::Value limit;    ///< keys at or past it do not exist
  mlir::Value full;     ///< keys below are seen by all rows; a multiple of the key tile
  mlir::Value last;     ///< keys at or past are seen by none
  mlir::Value diagonal; ///< row r sees key j if j ≤ r + diagonal; null unless causal
};

/// `key` and `lengths` are arguments of the kernel, `batch` the batch entry, `firstQuery` the block's first query.
VisibleKeys visibleKeys(TileBuilder &tiles, const Problem &problem, mlir::Value query, mlir::Value key,
                        mlir::Value lengths, mlir::Value batch, mlir::Value firstQuery);

/// Keys of a batch entry that exist: lengths[batch], or the size N of `key`.
mlir::Value keyLimit(TileBuilder &tiles, mlir::Value key, mlir::Value lengths, mlir::Value batch);

/// What a loop over the sequence carries after its step at `first`.
using LoopStep = llvm::function_ref<llvm::SmallVector<mlir::Value>(TileBuilder &tiles, mlir::Value first,
                                                                    mlir::ValueRange carried)>;

/// The carried tiles after the steps first = lower, lower + stride, … below upper.
llvm::SmallVector<mlir::Value> loop(TileBuilder &tiles, tile::Carry carry, mlir::Value lower, mlir::Value upper,
                                    int64_t stride, mlir::ValueRange carried, LoopStep step);

/// φ of a tile of tokens, in f32.
mlir::Value featureMap(TileBuilder &tiles, attn::FeatureMapAttr map, mlir::Value tokens);

/// numerator [R, C] / max(denominator + bias, floor) [R], 0 where that is exactly 0.
mlir::Value normalize(TileBuilder &tiles, attn::DenominatorAttr guard, mlir::Value numerator, mlir::Value denominator);

/// The element type of features and of their products as operands: the schedule's, unless that is f16. Features pass its
/// range below (φ of −30 is 1e-13) and weights above (|φ(q)||φ(k)| may be more than 65504), so then it is f32.
mlir::Type kernelOperand(const Problem &problem, TileBuilder &tiles);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_KERNELFRAME_H
