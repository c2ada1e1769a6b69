//===- ProjectionInLoad.h - The work of projections in the loads of their readers -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_PROJECTIONINLOAD_H
#define ATTUNE_LIB_COST_PROJECTIONINLOAD_H

#include "WorkSizes.h"

namespace attune::cost {

/// Whether some tokens of an attention are projected in the load.
inline bool projectsInLoad(const AttentionShape &shape) {
  return shape.queryModel || shape.keyModel || shape.valueModel;
}

/// Adds to kernels whose tokens would lie in memory what those need that are computed in the load: useful operations, live tiles.
void addProjectionsInLoad(KernelWorks &kernels, const AttentionShape &shape, const Sizes &z);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_PROJECTIONINLOAD_H
