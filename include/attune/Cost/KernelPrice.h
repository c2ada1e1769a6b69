//===- KernelPrice.h - Seconds from work and device -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COST_KERNELPRICE_H
#define ATTUNE_COST_KERNELPRICE_H

#include "attune/Cost/DeviceDescription.h"
#include "attune/Cost/WorkEstimate.h"

namespace attune::cost {

/// Seconds of one kernel, and what they are made of. Computing, reading near memory and reading main memory overlap;
/// the longest of the three counts, after the launch. `shuffles` is that part of computing that a GPU does beside the
/// rest of it. `last` is what the points do that wait for others.
struct KernelPrice {
  double launch = 0, compute = 0, shuffles = 0, nearMemory = 0, mainMemory = 0, last = 0;

  double seconds() const { return launch + std::max({compute, nearMemory, mainMemory}) + last; }
  /// What the kernel waits for: "compute", "shuffles", "near memory", "main memory" or "launch".
  const char *limit() const;
};

/// On a CPU products, elementwise work and exponentials follow each other; on a GPU matrix units, the unit that moves
/// words between lanes and the other ones work side by side. Grid points are handed to the cores in waves: with fewer
/// points than cores the rest is idle.
KernelPrice priceOf(const WorkEstimate &work, const DeviceDescription &device);

/// The work of kernels that run in one launch: the grid has the points of all of them.
WorkEstimate workTogether(llvm::ArrayRef<WorkEstimate> works);
/// Its price. Points of one kernel take equally long; in the order of the kernels each goes to the core that is free first.
KernelPrice priceTogether(llvm::ArrayRef<WorkEstimate> works, const DeviceDescription &device);

} // namespace attune::cost

#endif // ATTUNE_COST_KERNELPRICE_H
