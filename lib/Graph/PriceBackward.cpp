//===- PriceBackward.cpp - What the kernels of a backward pass cost -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Graph/PriceBackward.h"

#include "attune/Cost/KernelPrice.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace attune;
using namespace attune::graph;

llvm::Expected<BackwardPlan> graph::priceBackward(ModuleOp module, StringRef name, const RuntimeSizes &sizes,
                                                  const cost::DeviceDescription &device) {
  OwningOpRef<ModuleOp> copy(module.clone());
  llvm::Expected<CountedKernels> kernels = countKernels(*copy, device.kind);
  if (!kernels)
    return kernels.takeError();
  BackwardPlan plan;
  plan.function = name.str();
  for (const CountedKernel &kernel : *kernels) {
    const cost::WorkEstimate &work = workOf(kernel, sizes);
    cost::KernelPrice price = cost::priceOf(work, device);
    plan.seconds += price.seconds();
    plan.kernels.empty() ? void(plan.work = work) : void(plan.work += work);
    plan.kernels.push_back({kernel.name, "", price.seconds(), price.limit(), work});
  }
  return plan;
}
