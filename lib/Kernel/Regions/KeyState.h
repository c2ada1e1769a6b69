//===- KeyState.h - The state of keys and what reads it -*- C++ -*-----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_KEYSTATE_H
#define ATTUNE_LIB_KERNEL_REGIONS_KEYSTATE_H

#include "RegionPlanner.h"
#include "StateMemory.h"

namespace attune::kernel {

/// Kernel attention by the state of all keys.
class KeyState {
public:
  /// `exponents`: features are carried as such (attn::carriesExponents).
  KeyState(const Problem &problem, const FeatureMap &map, bool exponents);

  /// The heads that have states of their own.
  int64_t heads() const { return count; }
  /// Where the state of all keys can lie, or of each of so many pieces.
  StateMemory allocate(BuildSite &site, mlir::Value pieces = mlir::Value()) const;
  /// The state that others read, as what it is in memory.
  StateMemory memoryOf(mlir::Value matrix, mlir::Value sum) const;

  /// The state of all keys into `result`, summed up in pieces side by side.
  fusion::KernelRegion stateRegion(const StateMemory &result) const;
  /// Those of the pieces (Pieces.h) into `result`, which has a place for each.
  fusion::KernelRegion piecesRegion(const StateMemory &result) const;
  /// Outputs from the state in memory.
  fusion::KernelRegion readoutRegion(attn::DenominatorAttr guard, const StateMemory &state) const;
  /// State and outputs in one kernel.
  fusion::KernelRegion fusedRegion(attn::DenominatorAttr guard) const;

private:
  fusion::Source over(const RegionPlanner &plan, fusion::Stage keys) const;
  fusion::Source output(const RegionPlanner &plan, attn::DenominatorAttr guard, fusion::Source state) const;
  llvm::SmallVector<fusion::Dimension> entry() const { return {entryOf(fusion::Axis::Batch), entryOf(head)}; }

  const Problem &problem;
  const FeatureMap &map;
  bool exponents;
  int64_t count;
  fusion::Axis head; ///< which counts them
};

/// The stage over all keys that exist, whatever queries see of them.
fusion::Stage existingKeys(const RegionPlanner &plan);
/// M, z, S over a stage of keys: of their exponents `l` [T, features] and values.
fusion::Source stateOfExponents(fusion::Stage keys, fusion::Source l, fusion::Source v, int64_t features, int64_t width, bool wide);
/// The region of kernels that have a state a batch entry and head, which `head` counts.
fusion::KernelRegion stateKernel(const RegionPlanner &plan, llvm::StringRef suffix, fusion::Axis head);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_KEYSTATE_H
