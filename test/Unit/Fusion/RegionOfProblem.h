//===- RegionOfProblem.h - Regions of attention, by hand -*- C++ -*- ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the place of a planner: what it would find in a graph of terms, written down for each form of attention. The only
// code of regions that knows mechanisms.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H
#define ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H

#include "Families.h"
#include "Partition.h"
#include "Region.h"

namespace attune::test {

/// The region of an attention, whose feature map has this parameter in memory; none where its form has none yet.
std::optional<fusion::KernelRegion> regionOf(const kernel::Partition &partition, const kernel::Problem &problem,
                                             mlir::Value parameter);

fusion::KernelRegion regionOfPowers(const kernel::Problem &problem, int64_t degree, double scale,
                                    attn::DenominatorAttr guard);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H
