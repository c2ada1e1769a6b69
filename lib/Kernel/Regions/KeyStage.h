//===- KeyStage.h - Kernels that stream the keys of a head -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_KERNEL_REGIONS_KEYSTAGE_H
#define ATTUNE_LIB_KERNEL_REGIONS_KEYSTAGE_H

#include "RegionPlanner.h"

namespace attune::kernel {

/// The stage over all keys that exist, whatever queries see of them.
fusion::Stage existingKeys(const RegionPlanner &plan);
/// M, z, S over a stage of keys: of their exponents `l` [T, features] and values.
fusion::Source stateOfExponents(fusion::Stage keys, fusion::Source l, fusion::Source v, int64_t features, int64_t width, bool wide,
                                fusion::Source shares = nullptr);
/// The store of a value at a place, or of its sum with what lies there.
fusion::RegionOutput storeOrAdd(fusion::Source value, mlir::Value memory, llvm::SmallVector<fusion::Dimension, 4> place, bool adds);
/// The region of kernels that have a state a batch entry and head, which `head` counts.
fusion::KernelRegion stateKernel(const RegionPlanner &plan, llvm::StringRef suffix, fusion::Axis head = fusion::Axis::Head);

} // namespace attune::kernel

#endif // ATTUNE_LIB_KERNEL_REGIONS_KEYSTAGE_H
