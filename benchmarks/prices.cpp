//===- prices.cpp - Prices of the cheapest plans of a spec ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attune-bench-prices SPEC DEVICE THREADS PLANS
//
// Prints a line of JSON for each of the cheapest plans of a spec on a CPU, at most PLANS of them: its forms and its seconds.
// benchmarks/prices.py compares them with what was measured.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Graph/Selection.h"
#include "attune/Pipeline/Compilation.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;

/// One plan; false if there is none at that place.
static bool pricePlan(const Spec &spec, llvm::StringRef path, const cost::DeviceDescription &device, int64_t place) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, path, device.target, status);
  if (!compilation)
    return false;
  mlir::ScopedDiagnosticHandler quiet(&compilation->context(), [](mlir::Diagnostic &) { return mlir::success(); });
  graph::SelectOptions options;
  options.device = device, options.place = place;
  auto selection = graph::selectRewrites(compilation->module(), options);
  if (failed(selection) || selection->functions.empty())
    return false;
  const graph::FunctionSelection &taken = selection->functions.front();
  llvm::outs() << llvm::json::Value(llvm::json::Object{{"forms", taken.takenForms}, {"seconds", taken.seconds}}) << "\n";
  return true;
}

int main(int argc, char **argv) {
  Spec spec;
  if (argc != 5 || loadSpec(argv[1], spec, llvm::errs()) != SpecStatus::Good)
    return 2;
  auto device = cost::DeviceDescription::named(argv[2]);
  if (!device) {
    llvm::errs() << llvm::toString(device.takeError()) << "\n";
    return 2;
  }
  device->runOn(std::atoi(argv[3]));
  for (int64_t place = 0; place < std::atoi(argv[4]) && pricePlan(spec, argv[1], *device, place); ++place)
    ;
  return 0;
}
