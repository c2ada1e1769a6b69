//===- ExamplePlans.h - The kernels of every plan of an example -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_COUNTS_EXAMPLEPLANS_H
#define ATTUNE_TEST_UNIT_COUNTS_EXAMPLEPLANS_H

#include "attune/Graph/Metric.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>
#include <vector>

namespace attune::test {

struct LoweredPlan {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< the kernels, their host function and that which prepares
  graph::PricedPlan priced;                 ///< what prices know of it
  mlir::OwningOpRef<mlir::func::FuncOp> attention; ///< the plan before it was lowered
};

/// The names of the specs in examples/.
std::vector<std::string> exampleNames();

/// Calls `visit` with every plan of an example that the device runs, or with at most `limit` of them from all over the
/// list; the number of all.
size_t forEachPlan(mlir::MLIRContext &context, const std::string &example, const cost::DeviceDescription &device,
                   size_t limit, const std::function<void(LoweredPlan &)> &visit);

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_COUNTS_EXAMPLEPLANS_H
