//===- Compression.h - Sequences compressed to slots -*- C++ -*----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_COMPRESSION_H
#define ATTUNE_LIB_KERNEL_COMPRESSION_H

#include "KernelFrame.h"

namespace attune::kernel {

/// The sizes of a compression.
struct Slots {
  int64_t count, tile, width, heads;
  int64_t weightHeads; ///< 1, or each KV head has its own E
  int64_t blocks() const { return llvm::divideCeil(count, tile); }
};

/// The slots of a weight [W, k, N], or packed [W, N / 64, k, 64].
int64_t slotCount(mlir::Value weight);
/// E [T, Tk] of its head `own`, from slot and token on; of packed weights Tk divides 64 and `token`.
mlir::Value loadSlotWeights(TileBuilder &tiles, mlir::Value weight, mlir::Value own, mlir::Value slot, mlir::Value token,
                            llvm::ArrayRef<int64_t> shape);

/// result [batch, heads, k, width] = the sum of `pieces` [batch, heads, pieces, k, width], in their order.
void buildSlotMerge(BuildSite &site, const Problem &problem, const Slots &slots, mlir::Value pieces,
                    const Tokens &result);

/// E x, of which a layer's heads are made after E: a head of `slots` for each block of columns of x, and of those as many as
/// E has heads.
struct CompressedInput {
  Tokens slots;     ///< [batch, heads of E · blocks, k, columns]
  mlir::Value sums; ///< E 1 over the tokens that exist [batch, heads of E, k]; null until a bias needs it
  int64_t weightHeads = 1;
};

/// E x of x [batch, N, D] and weight [W, k, N]; `problem` has the lengths.
CompressedInput buildInputCompression(BuildSite &site, const Problem &problem, mlir::Value x, mlir::Value weight);
/// E 1 of the same.
mlir::Value buildSlotSums(BuildSite &site, const Problem &problem, mlir::Value x, mlir::Value weight);

/// result [batch, G, k, d] = (E x) W + (E 1) βᵀ. A prepared weight is [G, D, d], others are [D, G·d].
void buildSlotProjection(BuildSite &site, const Problem &problem, const CompressedInput &input, mlir::Value weight,
                         mlir::Value bias, const Tokens &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_COMPRESSION_H
