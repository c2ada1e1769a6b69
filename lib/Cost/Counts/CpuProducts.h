//===- CpuProducts.h - Multiply-adds that a CPU executes for a dot -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_CPUPRODUCTS_H
#define ATTUNE_LIB_COST_COUNTS_CPUPRODUCTS_H

#include "attune/Tile/Tile.h"

namespace attune::cost {

/// The multiply-adds that a CPU with vectors of so many lanes executes for a dot, over those of the dot: vectors are computed
/// whole (lib/Lowering/CPU/DotBody.cpp).
double executedPart(tile::DotOp dot, int64_t lanes);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_CPUPRODUCTS_H
