//===- CompressionRegion.h - Low-rank compression of tokens -*- C++ -*----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_COMPRESSIONREGION_H
#define ATTUNE_LIB_KERNEL_REGIONS_COMPRESSIONREGION_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

/// result [batch, G, k, width] = weight [1 or G, k, N] · problem.key, of whose tokens those past the lengths are 0. A prepared weight is
/// [1 or G, N / 64, k, 64]. `features`, of so many columns each, are compressed in the place of the tokens if they are given.
fusion::KernelRegion compressionRegion(const Problem &problem, mlir::Value weight, const Tokens &result, fusion::Source features,
                                       llvm::ArrayRef<int64_t> widths);

/// result [batch, G, N, width] = weightᵀ [N, k] · slots [batch, G, k, width], 0 of tokens past the lengths.
fusion::KernelRegion compressionTransposeRegion(const Problem &problem, const Tokens &slots, mlir::Value weight, const Tokens &result);

/// What the cotangent of a weight is made of: slots [batch, heads, k, columns] in blocks of these widths, and tokens as they or their features are
/// read at the heads of `Axis::Head`, of which those past the lengths do not count. Features may have more heads than values.
struct CompressionPair {
  Tokens slots;
  int64_t heads;
  llvm::SmallVector<int64_t, 2> widths;
  fusion::Source tokens;
  mlir::Value lengths; ///< null: all exist
};
/// weight [1 or G, k, N] = Σ slots tokensᵀ over the batch and the heads that share it, of all pairs.
fusion::KernelRegion compressionWeightRegion(const Problem &problem, llvm::ArrayRef<CompressionPair> pairs, mlir::Value weight);

/// E x, of which a layer's heads are made after E.
struct CompressedInput {
  mlir::Value slots; ///< [batch, heads of E, blocks of columns of x, k, columns]
  mlir::Value sums;  ///< E 1 over the tokens that exist [batch, heads of E, k]; null until a bias needs it
};

/// The workspace of E x for x [batch, N, D] and weight [W, k, N].
CompressedInput allocateInput(BuildSite &site, mlir::Value x, mlir::Value weight);
/// E x of problem.key, whose memory is x; `problem` has the lengths.
fusion::KernelRegion inputCompressionRegion(const Problem &problem, mlir::Value weight, const CompressedInput &result);
/// result [batch, W, k] = E 1 of the same.
fusion::KernelRegion weightSumsRegion(const Problem &problem, mlir::Value weight, mlir::Value result);
/// result [batch, G, k, d] = (E x) W + (E 1) βᵀ. A prepared weight is [G, D, d], others are [D, G·d].
fusion::KernelRegion slotProjectionRegion(const Problem &problem, const CompressedInput &input, const TokenProjection &projection,
                                          const Tokens &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_COMPRESSIONREGION_H
