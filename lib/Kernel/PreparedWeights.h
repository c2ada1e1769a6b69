//===- PreparedWeights.h - Weights packed or folded once -*- C++ -*------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H
#define ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H

#include "Families.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attune::kernel {

/// What `prepare` makes of the weight W [D, heads·d] of one projection: packed, each head's columns in the order in which the
/// kernel reads them, or folded, P = W ωᵀ and c = b ωᵀ. Of E [W, k, N] of a compression: blocks of its tokens, one after
/// another. Of the weights of a convolution [heads, dv, 3] or [heads, dv, 3, 3]: those of each tap, channel after channel.
/// The weights are numbers of arguments of the attn function.
struct PreparedWeight {
  unsigned weight;
  std::optional<unsigned> omega, bias; ///< only of folded ones
  int64_t width;                       ///< d, the tokens of a block, or the channels
  /// [heads, D, d]; P [H, D, m], as many heads as there are features of; [W, N / 64, k, 64]; [heads, taps, dv]
  mlir::MemRefType matrix;
  mlir::MemRefType shift;              ///< c [H·m]; null without a bias
  unsigned copy = 0;                   ///< its number among the different ones that are made of the weight
  bool ofTaps = false;                 ///< of a convolution

  bool folded() const { return omega.has_value(); }
  bool ofSlots() const { return matrix.getRank() == 4; }
  /// Whether both are one tensor (identity I23): the same parameters in the same way.
  bool sameAs(const PreparedWeight &other) const {
    return std::tie(weight, omega, bias, width) == std::tie(other.weight, other.omega, other.bias, other.width) &&
           matrix == other.matrix && ofTaps == other.ofTaps;
  }
};

/// A prepared weight in memory.
struct WeightMemory {
  mlir::Value matrix, shift;
};

/// The number of an argument of the attn function that is a parameter; none for other values.
std::optional<unsigned> parameterNumber(mlir::Value value);

/// What a folded projection reads, or an error if it cannot be; what another one, or a compression, reads if it is packed.
mlir::FailureOr<PreparedWeight> foldedWeight(attn::ProjectOp op);
std::optional<PreparedWeight> packedWeight(attn::ProjectOp op);
std::optional<PreparedWeight> packedWeight(attn::CompressOp op);
/// Of the product with a compression's transposed weight; nothing for other products.
std::optional<PreparedWeight> packedWeight(attn::ContractOp op);
/// What an output projection reads that is a kernel of its own: blocks of 64 columns in the place of heads.
std::optional<PreparedWeight> packedWeight(attn::ProjectOutputOp op);
/// What a convolution of the values reads: in f32, as it is computed.
std::optional<PreparedWeight> packedWeight(attn::LepeOp op);
std::optional<PreparedWeight> packedWeight(attn::LepeGradientOp op);

/// Those of the projections, compressions and convolutions of all plans of a library; an error at one that is marked as
/// folded and cannot be.
mlir::FailureOr<llvm::SmallVector<PreparedWeight>> preparedWeights(llvm::ArrayRef<mlir::func::FuncOp> plans,
                                                                   tile::TargetKind target);

/// Kernels of `prepare` that compute one.
void buildPreparedWeight(BuildSite &site, const Problem &problem, const PreparedWeight &prepared, mlir::Value weight,
                         mlir::Value bias, mlir::Value omega, const WeightMemory &result);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PREPAREDWEIGHTS_H
