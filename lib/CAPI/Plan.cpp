//===- Plan.cpp - Which forms a module would take, and why, for C ------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune-c/Plan.h"
#include "CapturedMessage.h"

#include "attune/Graph/Explain.h"
#include "attune/Graph/Selection.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attune;

namespace {
struct Plan {
  graph::Selection selection;
  std::string explanation, json;
};
} // namespace

static Plan &unwrap(AttunePlan plan) { return *static_cast<Plan *>(plan.ptr); }

static const graph::FunctionSelection &functionAt(AttunePlan plan, intptr_t position) {
  return unwrap(plan).selection.functions[position];
}

AttunePlan attunePlanCreate(MlirModule module, MlirStringRef device, int64_t threads) {
  ModuleOp original = unwrap(module);
  capi::CapturedMessage message(original.getContext());
  StringRef name = unwrap(device);
  llvm::Expected<cost::DeviceDescription> description = cost::DeviceDescription::named(name.empty() ? "cpu" : name);
  if (!description) {
    message.stream() << "device: error: " << llvm::toString(description.takeError()) << "\n";
    return {nullptr};
  }
  graph::SelectOptions options;
  options.device = std::move(*description);
  options.device.runOn(threads);
  options.curves = options.offers = true;
  OwningOpRef<ModuleOp> copy(original.clone());
  FailureOr<graph::Selection> selection = graph::selectRewrites(*copy, options);
  if (failed(selection))
    return {nullptr};
  auto plan = std::make_unique<Plan>();
  plan->selection = std::move(*selection);
  llvm::raw_string_ostream text(plan->explanation);
  graph::explain(plan->selection, text);
  plan->json = llvm::formatv("{0:2}", graph::explainAsJson(plan->selection)).str();
  return {plan.release()};
}

void attunePlanDestroy(AttunePlan plan) { delete static_cast<Plan *>(plan.ptr); }

MlirStringRef attunePlanGetExplanation(AttunePlan plan) { return wrap(StringRef(unwrap(plan).explanation)); }
MlirStringRef attunePlanGetJson(AttunePlan plan) { return wrap(StringRef(unwrap(plan).json)); }
intptr_t attunePlanGetNumFunctions(AttunePlan plan) { return unwrap(plan).selection.functions.size(); }

MlirStringRef attunePlanGetFunctionName(AttunePlan plan, intptr_t position) {
  return wrap(StringRef(functionAt(plan, position).function));
}
double attunePlanGetSeconds(AttunePlan plan, intptr_t position) { return functionAt(plan, position).seconds; }
int64_t attunePlanGetLength(AttunePlan plan, intptr_t position) { return functionAt(plan, position).length; }
MlirStringRef attunePlanGetForms(AttunePlan plan, intptr_t position) {
  return wrap(StringRef(functionAt(plan, position).takenForms));
}
