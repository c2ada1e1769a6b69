//===- Explain.cpp - attnc explain ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExplainPage.h"
#include "ExplainPlot.h"
#include "FlurkaView.h"
#include "PricedSpec.h"
#include "StateView.h"

#include "attune/Commands/Commands.h"
#include "attune/Graph/Explain.h"
#include "attune/Graph/KeepForBackward.h"
#include "attune/Graph/PriceBackward.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Support/UniqueFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace attune;
using namespace attune::attnc;

/// The spec with the sizes of the command line in place of '?'.
static std::unique_ptr<Compilation> openResolved(const Arguments &arguments, int &status, llvm::raw_ostream &errors = llvm::errs()) {
  const std::string &path = arguments.specs.front();
  if (llvm::StringRef(path).ends_with(".mlir"))
    return Compilation::open(path, arguments.target, status, errors);
  Spec spec;
  if (SpecStatus good = loadSpec(path, spec, errors); good != SpecStatus::Good) {
    status = exitStatus(good);
    return nullptr;
  }
  noteIgnoredSizes(spec, arguments.batch, arguments.queries, arguments.keys, errors);
  return Compilation::fromSpec(resolveSizes(spec, arguments.batch, arguments.queries, arguments.keys), path,
                               arguments.target, status, errors);
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
        << ": for " << threads
        << " threads of this machine, measure it (attnc calibrate -o host.yaml) and give --device "
        << "host.yaml\n";
}

/// The message of the first error that was printed, without its place.
static std::string firstError(llvm::StringRef printed) {
  llvm::StringRef message = printed.split("error: ").second;
  return (message.empty() ? printed : message).split('\n').first.str();
}

/// The pass that computes gradients, from what the plan of the function leaves; it is compiled as far as its kernels.
static graph::BackwardPlan backwardOf(Compilation &forward, const graph::FunctionSelection &selection, const Arguments &arguments) {
  auto refused = [](std::string why) {
    graph::BackwardPlan plan;
    plan.refusal = std::move(why);
    return plan;
  };
  std::string printed;
  llvm::raw_string_ostream errors(printed);
  int status = Failed;
  auto again = forward.spec() ? Compilation::fromSpec(*forward.spec(), forward.path(), arguments.target, status, errors)
                              : openResolved(arguments, status, errors);
  auto function = forward.module().lookupSymbol<mlir::func::FuncOp>(selection.function);
  if (std::optional<std::vector<std::string>> left = graph::savedNames(function); again && left)
    again->leave(std::move(*left));
  if (again && !arguments.device.empty())
    again->priceFor(arguments.device);
  if (again)
    again->planFor(pricedThreads(arguments));
  std::unique_ptr<Compilation> backward = again ? again->backward() : nullptr;
  mlir::FailureOr<cost::DeviceDescription> device = pricedDevice(arguments);
  if (!backward || failed(backward->advance(Stage::Tile)) || failed(device))
    return refused(firstError(printed));
  llvm::Expected<graph::BackwardPlan> plan = graph::priceBackward(backward->module(), backward->name(), {selection.batch, selection.queries, selection.keys}, *device);
  return plan ? std::move(*plan) : refused(llvm::toString(plan.takeError()));
}

namespace {
/// What was selected, what a function of known sizes needs, its state, and for a FLuRKA layer what its paper counts.
struct Explanation {
  const Arguments &arguments;
  graph::Selection selection;
  std::optional<double> useful = {};
  std::optional<StateSizes> state = {};
  std::optional<cost::FlurkaSizes> flurka = {};
  std::optional<FlurkaPrices> prices = {};

  llvm::json::Value json() const {
    llvm::json::Value object = graph::explainAsJson(selection);
    if (useful)
      object.getAsObject()->insert({"useful_operations", *useful});
    if (state)
      object.getAsObject()->insert({"state", stateAsJson(*state)});
    if (flurka)
      object.getAsObject()->insert({"flurka_equations", flurkaAsJson(*flurka, prices)});
    return object;
  }

  void print() const {
    if (arguments.json) {
      llvm::outs() << llvm::formatv("{0:2}", json()) << "\n";
      return;
    }
    graph::explain(selection, llvm::outs());
    noteThreads(arguments, llvm::outs());
    if (state)
      printState(*state, llvm::outs());
    if (flurka)
      printFlurka(*flurka, prices, llvm::outs());
  }

  /// The files that --plot and --html ask for.
  llvm::Error write(mlir::ModuleOp before, mlir::ModuleOp after, llvm::StringRef title) const {
    if (!arguments.plot.empty()) {
      const graph::FunctionSelection &first = selection.functions.front();
      if (llvm::Error error = writeFile(arguments.plot, [&](llvm::raw_ostream &os) { drawPrices(first, os); }))
        return error;
    }
    if (arguments.html.empty())
      return llvm::Error::success();
    return writeFile(arguments.html,
                     [&](llvm::raw_ostream &os) { writePage(selection, before, after, json(), title, os); });
  }
};
} // namespace

int attune::attnc::explain(const Arguments &arguments) {
  if (arguments.listDevices)
    return listDevices();
  int status = Failed;
  auto compilation = openResolved(arguments, status);
  if (!compilation)
    return status;
  mlir::OwningOpRef<mlir::ModuleOp> before(compilation->module().clone());
  auto selection = selectFor(*compilation, arguments, /*explaining=*/true);
  if (failed(selection))
    return Failed;
  for (graph::FunctionSelection &function : selection->functions)
    if (function.leftBytes && function.function == compilation->name()) // it has gradients
      function.backward = backwardOf(*compilation, function, arguments);
  Explanation explanation{arguments, std::move(*selection)};
  explanation.useful = attn::usefulOperations(*before);
  if (const std::optional<Spec> &spec = compilation->spec())
    explanation.state = stateSizes(*spec), explanation.flurka = flurkaSizes(*spec);
  if (explanation.flurka)
    explanation.prices = flurkaPrices(*compilation->spec(), explanation.selection.functions.front().seconds, arguments);
  explanation.print();
  llvm::Error error = explanation.write(*before, compilation->module(), compilation->name());
  return error ? fail(std::move(error)) : static_cast<int>(Done);
}
