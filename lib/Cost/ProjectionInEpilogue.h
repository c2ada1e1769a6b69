//===- ProjectionInEpilogue.h - The work of an output projection as an epilogue -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_PROJECTIONINEPILOGUE_H
#define ATTUNE_LIB_COST_PROJECTIONINEPILOGUE_H

#include "WorkSizes.h"

namespace attune::cost {

/// Adds to the kernel of the output, as if it stored the heads, what projecting them in it needs: useful operations, live tiles.
void addProjectionInEpilogue(WorkEstimate &work, const AttentionShape &shape, const Sizes &z);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_PROJECTIONINEPILOGUE_H
