//===- EvaluatedPlans.cpp - What the plans of a function compute ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "EvaluatedPlans.h"

#include "attune/Graph/Memo.h"
#include "attune/Reference/EvalAttn.h"

using namespace mlir;
using namespace attune;
using namespace attune::random;
using reference::Array;

static LogicalResult evaluate(func::FuncOp plan, std::string name, ArrayRef<Array> arguments,
                              std::vector<EvaluatedPlan> &plans) {
  FailureOr<std::vector<Array>> results = reference::evalAttn(plan, arguments);
  if (failed(results))
    return failure();
  plans.push_back({std::move(name), std::move(results->front())});
  return success();
}

//===----------------------------------------------------------------------===//
// Every form
//===----------------------------------------------------------------------===//

static std::string nameOf(const graph::Memo &memo, ArrayRef<unsigned> choice) {
  std::string name;
  for (auto [group, index] : llvm::zip_equal(memo.groups(), choice))
    name += (name.empty() ? "" : ", ") + group.op->getName().stripDialect().str() + ": " +
            group.alternatives[index].form.str();
  return name.empty() ? "as it is" : name;
}

static LogicalResult evaluateForms(func::FuncOp function, ArrayRef<Array> arguments, int64_t bound,
                                   std::vector<EvaluatedPlan> &plans) {
  auto laws = graph::createLaws();
  graph::Memo memo(function, laws);
  for (const SmallVector<unsigned> &choice : graph::enumeratePlans(memo.groups(), memo.feasible(), bound).plans)
    if (failed(evaluate(*memo.realize(choice), nameOf(memo, choice), arguments, plans)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What selection takes
//===----------------------------------------------------------------------===//

/// A CPU runs every plan; what a GPU's kernels lack says so, and is told by its name.
static LogicalResult refuse(ModuleOp module, StringRef device, StringRef said, EvaluatedPlans &plans) {
  if (device == "cpu" || !said.contains("not supported yet"))
    return module.emitError() << "expected a plan for " << device << ", but got: " << said;
  plans.refused.push_back((device + ": " + said).str());
  return success();
}

static LogicalResult evaluateSelected(ModuleOp module, StringRef device, ArrayRef<graph::Pin> pins,
                                      ArrayRef<Array> arguments, EvaluatedPlans &plans) {
  OwningOpRef<ModuleOp> copy(module.clone());
  graph::SelectOptions options{llvm::cantFail(cost::DeviceDescription::named(device)),
                               std::vector<graph::Pin>(pins.begin(), pins.end())};
  std::string said;
  auto select = [&] {
    ScopedDiagnosticHandler quiet(module.getContext(), [&](Diagnostic &diagnostic) {
      said += said.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error ? diagnostic.str() : "";
      return success();
    });
    return graph::selectRewrites(*copy, options);
  };
  if (failed(select()))
    return refuse(module, device, said, plans);
  for (auto plan : copy->getOps<func::FuncOp>())
    if (failed(evaluate(plan, ("selected for " + device + ": @" + plan.getName()).str(), arguments,
                        plans.evaluated)))
      return failure();
  return success();
}

FailureOr<EvaluatedPlans> attune::random::evaluatePlans(ModuleOp module, ArrayRef<Array> arguments,
                                                        ArrayRef<graph::Pin> pins, int64_t bound) {
  EvaluatedPlans plans;
  if (failed(evaluateForms(*module.getOps<func::FuncOp>().begin(), arguments, bound, plans.evaluated)))
    return failure();
  for (StringRef device : {"cpu", "sm_80"})
    if (failed(evaluateSelected(module, device, pins, arguments, plans)))
      return failure();
  return plans;
}
