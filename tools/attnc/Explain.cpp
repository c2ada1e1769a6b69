//===- Explain.cpp - attnc explain ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Commands.h"
#include "ExplainPlot.h"
#include "FlurkaView.h"
#include "PricedSpec.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Graph/Explain.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;

/// The spec with the sizes of the command line in place of '?'.
static std::unique_ptr<Compilation> openResolved(const Arguments &arguments, int &status) {
  const std::string &path = arguments.specs.front();
  if (llvm::StringRef(path).ends_with(".mlir"))
    return Compilation::open(path, arguments.target, status);
  Spec spec;
  if (SpecStatus good = loadSpec(path, spec, llvm::errs()); good != SpecStatus::Good) {
    status = exitStatus(good);
    return nullptr;
  }
  noteIgnoredSizes(spec, arguments.batch, arguments.queries, arguments.keys, llvm::errs());
  return Compilation::fromSpec(resolveSizes(spec, arguments.batch, arguments.queries, arguments.keys), path,
                               arguments.target, status);
}

static int listDevices() {
  std::vector<cost::DeviceDescription> devices = cost::DeviceDescription::embedded();
  llvm::stable_sort(devices, [](const auto &left, const auto &right) { return left.target < right.target; });
  llvm::outs() << "device             target    what it is\n";
  for (const cost::DeviceDescription &device : devices)
    llvm::outs() << llvm::left_justify(device.name, 19) << llvm::left_justify(device.target, 10) << device.summary
                 << (device.isDefault ? " (default)" : "") << "\n";
  return Done;
}

/// A description is of a machine with some cores; with more of them only what cores do by themselves is known to grow.
static void noteThreads(const Arguments &arguments, llvm::raw_ostream &out) {
  int64_t threads = pricedThreads(arguments);
  if (arguments.target != "cpu" || threads == 0)
    return;
  llvm::Expected<cost::DeviceDescription> device =
      cost::DeviceDescription::named(arguments.device.empty() ? arguments.target : arguments.device);
  if (!device)
    return llvm::consumeError(device.takeError());
  if (threads > device->cores)
    out << "  memory bandwidth is that of the " << static_cast<int64_t>(device->cores) << " cores of " << device->name
        << ": for " << threads << " threads of this machine, measure it (attnc calibrate -o host.yaml) and give --device "
        << "host.yaml\n";
}

/// What was selected, and for a FLuRKA layer what its paper counts.
static void printSelection(const Arguments &arguments, const graph::Selection &selection,
                           const std::optional<cost::FlurkaSizes> &flurka,
                           const std::optional<FlurkaPrices> &prices) {
  if (!arguments.json) {
    graph::explain(selection, llvm::outs());
    noteThreads(arguments, llvm::outs());
    if (flurka)
      printFlurka(*flurka, prices, llvm::outs());
    return;
  }
  llvm::json::Value json = graph::explainAsJson(selection);
  if (flurka)
    json.getAsObject()->insert({"flurka_equations", flurkaAsJson(*flurka, prices)});
  llvm::outs() << llvm::formatv("{0:2}", json) << "\n";
}

int attune::attnc::explain(const Arguments &arguments) {
  if (arguments.listDevices)
    return listDevices();
  int status = Failed;
  auto compilation = openResolved(arguments, status);
  if (!compilation)
    return status;
  auto selection = selectFor(*compilation, arguments, /*explaining=*/true);
  if (failed(selection))
    return Failed;
  std::optional<cost::FlurkaSizes> flurka =
      compilation->spec() ? flurkaSizes(*compilation->spec()) : std::optional<cost::FlurkaSizes>();
  std::optional<FlurkaPrices> prices;
  if (flurka)
    prices = flurkaPrices(*compilation->spec(), selection->functions.front().seconds, arguments);
  printSelection(arguments, *selection, flurka, prices);
  if (arguments.plot.empty())
    return Done;
  const graph::FunctionSelection &first = selection->functions.front();
  llvm::Error error = writeText(arguments.plot, [&](llvm::raw_ostream &os) { drawPrices(first, os); });
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}
