//===- RegionOfProblem.h - Regions of attention, by hand -*- C++ -*- ----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions on trial: of attention that attn-to-tile builds otherwise yet. They are here until their whole family can move.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H
#define ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H

#include "Families.h"
#include "Partition.h"
#include "Region.h"

namespace attune::test {

/// The region of an attention whose features are as they are; none where its form has none on trial.
std::optional<fusion::KernelRegion> regionOfForm(const kernel::Partition &partition, const kernel::Problem &problem,
                                                 const kernel::FeatureMap &map);
/// The same where features are carried as exponents.
std::optional<fusion::KernelRegion> regionOfExponents(const kernel::Partition &partition, const kernel::Problem &problem,
                                                      const kernel::FeatureMap &map);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_FUSION_REGIONOFPROBLEM_H
