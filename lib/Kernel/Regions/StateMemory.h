//===- StateMemory.h - Where the state of keys lies in memory -*- C++ -*-----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// S = Σ_j b_j v_jᵀ and z = Σ_j b_j over keys, of features b. Where features are exponents both are in units 2^M of each feature.
// Features may have several blocks, which lie one below the other; a state has the tiles S, z of each, or M, z, S.
// A tensor of a run may be absent: then it is read as zeros, and not written.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_STATEMEMORY_H
#define ATTUNE_LIB_KERNEL_REGIONS_STATEMEMORY_H

#include "Families.h"
#include "Region.h"

namespace attune::kernel {

struct StateMemory {
  mlir::Value matrix; ///< S at [indices…, feature, value]
  mlir::Value sum;    ///< z at [indices…, feature]; null: nobody reads it
  mlir::Value unit;   ///< M as z; null: S and z are in no unit
  llvm::SmallVector<int64_t, 2> features; ///< of each block; one where there are units
  int64_t width = 0;                      ///< of values
  mlir::Value transition = {}; ///< of spans: what is left of S and z before, [indices…, feature, 1], or what becomes of S,
                               ///< [indices…, feature, feature]; null: all of it is left
  fusion::Index unless = {};   ///< nothing is written where it is above 0; null: it is
  int64_t featureTile = 0, valueTile = 0; ///< of the slice at the site that is read and written; 0: all features, or values, are

  /// What a state has beside S.
  struct Parts {
    bool units = false, sums = true;
    std::optional<tile::Transition> transition = std::nullopt; ///< of spans
  };
  /// Workspaces [batch, heads, m, width] and [batch, heads, m], with `pieces` behind heads unless it is null.
  static StateMemory allocate(BuildSite &site, Parts parts, mlir::Value batch, int64_t heads, llvm::ArrayRef<int64_t> features,
                              int64_t width, mlir::Value pieces = mlir::Value());

  fusion::Representation representation() const {
    return unit ? fusion::Representation::Scaled : fusion::Representation::Plain;
  }
  std::optional<tile::Transition> transitionKind() const;
  /// Of the tiles of a state, without the transition.
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes() const;
  /// The state, or the span, behind these indices.
  fusion::Source read(llvm::ArrayRef<fusion::Dimension> at) const;
  /// The stores of `state`, and of the transition if there is one, to there.
  llvm::SmallVector<fusion::RegionOutput, 2> write(fusion::Source state, llvm::ArrayRef<fusion::Dimension> at,
                                                   fusion::Source transition = nullptr) const;

private:
  /// A tile of the state: rows of S from a feature on, or what there is of each feature.
  struct Tile {
    mlir::Value memory;
    int64_t feature, count;
    bool isMatrix;
  };
  llvm::SmallVector<Tile> tiles() const;
  llvm::SmallVector<fusion::Dimension, 4> placeOf(const Tile &tile, llvm::ArrayRef<fusion::Dimension> at,
                                                  fusion::Index unless = {}) const;
  llvm::SmallVector<fusion::Dimension, 4> transitionAt(llvm::ArrayRef<fusion::Dimension> at) const;
};

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_STATEMEMORY_H
