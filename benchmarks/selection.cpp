//===- selection.cpp - How long it takes to choose the plans of a spec ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attune-bench-selection SPEC…
//
// Selects for every spec on every embedded device, with the lengths that it leaves open (up to three plans and their
// thresholds) and for 4,096 tokens, and prints the slowest device of each: plans priced, processor time of the middle one
// of five runs. The exit status is 1 if a spec takes more than 50 ms on some device.
//
//===----------------------------------------------------------------------===//
#include "attune/Frontend/SpecParser.h"
#include "attune/Graph/Selection.h"
#include "attune/Pipeline/Compilation.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>

using namespace attune;

namespace {
constexpr double mostSeconds = 0.05;

struct Result {
  std::string device;
  int64_t priced = 0;
  double seconds = 0;
};
} // namespace

static double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One selection; nothing if the device can run no plan.
static std::optional<Result> select(const Spec &spec, llvm::StringRef path, const cost::DeviceDescription &device) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, path, device.target, status);
  if (!compilation)
    return std::nullopt;
  mlir::ScopedDiagnosticHandler quiet(&compilation->context(), [](mlir::Diagnostic &) { return mlir::success(); });
  graph::SelectOptions options;
  options.device = device;
  for (const Pin &pin : spec.pin)
    options.pins.push_back({pin.law, pin.form});
  double start = processorSeconds();
  auto selection = graph::selectRewrites(compilation->module(), options);
  double seconds = processorSeconds() - start;
  if (failed(selection) || selection->functions.empty())
    return std::nullopt;
  return Result{device.name, selection->functions.front().priced, seconds};
}

/// The slowest device.
static Result slowest(const Spec &spec, llvm::StringRef path) {
  Result worst;
  for (const cost::DeviceDescription &device : cost::DeviceDescription::embedded()) {
    std::vector<Result> runs;
    for (int run = 0; run < 5; ++run)
      if (std::optional<Result> result = select(spec, path, device))
        runs.push_back(*result);
    if (runs.empty())
      continue;
    llvm::sort(runs, [](const Result &a, const Result &b) { return a.seconds < b.seconds; });
    if (const Result &middle = runs[runs.size() / 2]; middle.seconds > worst.seconds)
      worst = middle;
  }
  return worst;
}

int main(int argc, char **argv) {
  bool good = true;
  llvm::outs() << "spec                        lengths   plans        ms   slowest on\n";
  for (int place = 1; place < argc; ++place) {
    Spec spec;
    if (loadSpec(argv[place], spec, llvm::errs()) != SpecStatus::Good)
      return 2;
    bool open = !spec.queries || !spec.keys || !spec.batch;
    for (bool known : {false, true}) {
      if (!known && !open)
        continue;
      Result worst = slowest(known ? resolveSizes(spec, Size(1), Size(4096), Size(4096)) : spec, argv[place]);
      llvm::outs() << llvm::format("%-28s%-8s%7lld%10.2f   %s\n", spec.name.c_str(), known ? "known" : "open",
                                   static_cast<long long>(worst.priced), worst.seconds * 1e3, worst.device.c_str());
      good &= worst.seconds <= mostSeconds;
    }
  }
  return good ? 0 : 1;
}
