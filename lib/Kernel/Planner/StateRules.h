//===- StateRules.h - States of keys -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_PLANNER_STATERULES_H
#define ATTUNE_LIB_KERNEL_PLANNER_STATERULES_H

#include "MapRule.h"
#include "Terms.h"

namespace attune::kernel {

/// S = Σ_j b_j v_jᵀ and z = Σ_j b_j over the keys of a state, or of a causal readout; of queries z = Σ_i w_i b_i.
struct KeySums {
  explicit KeySums(mlir::Operation *op);

  int64_t heads() const; ///< that have a state of their own
  int64_t width() const; ///< of values
  bool needsSum() const; ///< whether anyone reads z

  mlir::Value features, value, lengths;  ///< [batch, heads, N, m], [batch, G, N, dv], [batch] or null
  mlir::Value matrix, sum;               ///< S and z of all keys; null of a gradient's
  mlir::Value initialMatrix, initialSum; ///< of the keys before the first; null: none
  mlir::Value unit, initialUnit;         ///< M of all keys, and of those; null: they are in no unit
  mlir::Value decay; ///< [heads], [batch, heads, N] or [batch, heads, N, m]: what each key leaves of those before it; null: all
  mlir::Value weights; ///< w [batch, heads, n]; null: all are 1
  mlir::Value erase; ///< [batch, heads, N] or [batch, heads, N, m]; null: keys erase nothing
  bool ofGradient = false; ///< whether the op is one
  mlir::Value write; ///< [batch, heads, N]: the shares that keys enter with and that are no part of `features`; null: all enter as they are
};

/// The ops that are computed with this one that makes a state, the one of S first; none: there is no S beside this z.
llvm::SmallVector<mlir::Operation *, 2> stateOps(mlir::Operation *op);
/// z [feature] of the head at a place, in blocks so wide.
llvm::SmallVector<fusion::Source> sumsAt(mlir::Value sums, llvm::ArrayRef<int64_t> widths, RegionDraft &draft, const Place &at);
/// The state of features that are divided by these sums: of numbers that add up to 1. Null: there is none.
attn::StateOp stateOfWeights(attn::SequenceLseOp op);
/// The map that made features, also behind the shares that keys enter with; null: none did.
attn::MapOp mapOf(mlir::Value features);
/// Of that map, if any.
mlir::Value lengthsOf(mlir::Value features);
/// Numbers of each token at a place, of each of its entries, or of the head.
fusion::Source gateAt(mlir::Value gate, RegionDraft &draft, const Place &at);
/// Whether every feature has a decay of its own.
bool decaysChannels(mlir::Value decay);

/// The exponents of what decay leaves over a span of the keys, for each of so many `features`, of the head at a place.
fusion::Source decayOver(terms::DecaySpan span, mlir::Value decay, RegionDraft &draft, const Place &at, int64_t features = 0);
/// x with what is left of it; x itself where nothing decays.
fusion::Source decayed(fusion::Source x, terms::DecaySpan span, mlir::Value decay, RegionDraft &draft, const Place &at);

/// Features of keys, 0 of those that do not exist.
fusion::Source existingFeatures(mlir::Value features, RegionDraft &draft, const Place &at);

/// The same with the shares that keys enter with.
fusion::Source writtenFeatures(const KeySums &sums, RegionDraft &draft, const Place &at);

/// Exponents of keys, and values; with the shares that keys enter with, and these, null where all enter as they are.
struct KeysInUnits {
  KeysInUnits(const KeySums &sums, RegionDraft &draft, const Place &features, const Place &values);

  attn::MapOp map;
  fusion::Source key, value, written, shares;
};

/// A step that adds features b [T, m] and values to the sums of numbers.
fusion::StepForm keySums(const KeySums &sums, RegionDraft &draft, fusion::Source b, fusion::Source v, const Place &at, bool withSums);

/// The state of a stage of keys, in units if the features are; its steps store what is made of their tokens.
fusion::Source stateOver(const KeySums &sums, RegionDraft &draft, const fusion::Stage &keys, const Place &at, bool withSums,
                         llvm::ArrayRef<fusion::RegionOutput> stored = {});
/// Whether a reader of the state wants its pieces merged by the point that leaves the last one.
bool isMerged(mlir::Operation *op);
/// The kernel of a state, and of rows of the tokens that it sums up (SameTokens.cpp).
mlir::LogicalResult buildStateKernel(mlir::Operation *op, HostBuilder &host, const Problem &named, llvm::ArrayRef<WrittenValue> rows = {});

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_PLANNER_STATERULES_H
