//===- ComputeSeconds.h - What one core would take for a kernel -*- C++ -* -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COMPUTESECONDS_H
#define ATTUNE_LIB_COST_COMPUTESECONDS_H

#include "attune/Cost/DeviceDescription.h"
#include "attune/Cost/WorkEstimate.h"

namespace attune::cost {

/// Seconds of the whole grid on one core that waits for no memory.
double computeSeconds(const WorkEstimate &work, const DeviceDescription &device);

/// The rate of main memory that so many busy cores reach. Of a CPU's cores each has its part, as one alone cannot take all of
/// it; what a core of a GPU reaches is what its near memory gives it.
double mainRate(double busy, const DeviceDescription &device);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COMPUTESECONDS_H
