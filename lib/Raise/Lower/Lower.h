//===- Lower.h - Terms of attn as linalg -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One overload an op, the ops of one family in one file: the values of its results, but for casts of their types.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_RAISE_LOWER_LOWER_H
#define ATTUNE_LIB_RAISE_LOWER_LOWER_H

#include "Loops.h"

namespace attune::raise {

using Results = llvm::SmallVector<mlir::Value>;

/// LowerSoftmax.cpp
Results lower(mlir::OpBuilder &builder, attn::SoftmaxPartialOp op);
Results lower(mlir::OpBuilder &builder, attn::SoftmaxMergeOp op);
Results lower(mlir::OpBuilder &builder, attn::SoftmaxFinishOp op);
/// LowerMaps.cpp and LowerFavor.cpp
Results lower(mlir::OpBuilder &builder, attn::MapOp op);
Results lower(mlir::OpBuilder &builder, attn::KeyMaximumOp op);
/// LowerSketch.cpp
Results lower(mlir::OpBuilder &builder, attn::SketchOp op);
/// LowerWeights.cpp
Results lower(mlir::OpBuilder &builder, attn::ContractOp op);
Results lower(mlir::OpBuilder &builder, attn::VisibleOp op);
Results lower(mlir::OpBuilder &builder, attn::DecayOp op);
Results lower(mlir::OpBuilder &builder, attn::RowSumOp op);
Results lower(mlir::OpBuilder &builder, attn::RowMaximumOp op);
Results lower(mlir::OpBuilder &builder, attn::PowerOp op);
Results lower(mlir::OpBuilder &builder, attn::DiagonalBlocksOp op);
/// LowerStates.cpp
Results lower(mlir::OpBuilder &builder, attn::StateOp op);
Results lower(mlir::OpBuilder &builder, attn::StateMergeOp op);
Results lower(mlir::OpBuilder &builder, attn::ReadoutOp op);
Results lower(mlir::OpBuilder &builder, attn::CausalReadoutOp op);
Results lower(mlir::OpBuilder &builder, attn::NormalizeOp op);
/// LowerBlocked.cpp and LowerEva.cpp
Results lower(mlir::OpBuilder &builder, attn::PoolOp op);
Results lower(mlir::OpBuilder &builder, attn::SequenceSoftmaxOp op);
Results lower(mlir::OpBuilder &builder, attn::SequenceLseOp op);
Results lower(mlir::OpBuilder &builder, attn::SequenceWeightsOp op);
Results lower(mlir::OpBuilder &builder, attn::EvaSummariesOp op);
Results lower(mlir::OpBuilder &builder, attn::EvaMixOp op);
/// LowerLayer.cpp, LowerRope.cpp, LowerLepe.cpp
Results lower(mlir::OpBuilder &builder, attn::ProjectOp op);
Results lower(mlir::OpBuilder &builder, attn::ProjectOutputOp op);
Results lower(mlir::OpBuilder &builder, attn::RopeOp op);
Results lower(mlir::OpBuilder &builder, attn::QkNormOp op);
Results lower(mlir::OpBuilder &builder, attn::CompressOp op);
Results lower(mlir::OpBuilder &builder, attn::LepeOp op);
Results lower(mlir::OpBuilder &builder, attn::TakeHeadsOp op);
Results lower(mlir::OpBuilder &builder, attn::ConcatHeadsOp op);

//===----------------------------------------------------------------------===//
// What they share
//===----------------------------------------------------------------------===//

/// Which keys a query sees, at loops with the letters i and j (and b for lengths).
struct Sight {
  bool causal = false;
  attn::WindowAttr window;
  mlir::Value lengths;
  /// n and N.
  Place queries, keys;
  std::optional<int64_t> last = {};
  bool any() const { return causal || window || lengths; }
  /// With `length`, the number of the batch's keys, if there are lengths.
  Truth operator()(Point at, std::optional<Number> length) const;
};

/// The tokens of [batch, heads, tokens, …] that do not exist as 0, in f32; the tensor itself without lengths.
mlir::Value existing(Loops &loops, mlir::Value tensor, mlir::Value lengths);

/// Whether weights or features are made with lengths: those of tokens that do not exist are 0, and what they multiply
/// may be NaN.
bool mayReadNothing(mlir::Value factor);

/// The exponents of FAVOR over "b", heads, "tf": ⟨ω_f, x'⟩, and that less |x'|²/2.
struct Exponents {
  mlir::Value projections, exponents;
  std::string names;
};
Exponents exponentsOf(Loops &loops, mlir::Value source, mlir::Value parameter, attn::FeatureMapAttr map, int64_t heads);
/// Features of FAVOR over `names` = "b", heads, "tf".
mlir::Value favorFeatures(Loops &loops, attn::MapOp op, int64_t heads);

} // namespace attune::raise

#endif // ATTUNE_LIB_RAISE_LOWER_LOWER_H
