//===- DeviceBench.cpp - attnc bench on a GPU -----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device's time of one run, by events, of a spec and of exact softmax in turn; tensors lie in its memory. Beside it the limit
// that is measured here: the rate at which the device copies its own memory, which no kernel that reads its inputs and writes its
// output from there exceeds. Small tensors may stay in a cache, and then a run may.
//
//===----------------------------------------------------------------------===//
#include "DeviceBench.h"
#include "TimedLibrary.h"

#include "attune/Commands/Commands.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Pipeline/DeviceRun.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace attune;
using namespace attune::attnc;

namespace {
/// A spec's library with its tensors on the device; the run is destroyed first.
struct PlacedLibrary {
  std::unique_ptr<LoadedLibrary> library;
  target::LibraryDescription interface;
  std::unique_ptr<RunTensors> tensors = std::make_unique<RunTensors>();
  std::unique_ptr<DeviceRun> run;
  std::vector<double> seconds;
  double operations = 0;

  llvm::Error time();
};

struct DeviceRow {
  std::string name;
  std::vector<double> seconds, exactSeconds;
  double operations = 0, bytes = 0;
};
} // namespace

llvm::Error PlacedLibrary::time() {
  llvm::Expected<double> taken = run->timed();
  if (!taken)
    return taken.takeError();
  seconds.push_back(*taken);
  return llvm::Error::success();
}

static llvm::Error load(const Spec &spec, const Arguments &arguments, PlacedLibrary &placed) {
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, arguments.specs.front(), arguments.target, status);
  if (!compilation)
    return llvm::createStringError("the spec could not be compiled");
  if (!arguments.device.empty())
    compilation->priceFor(arguments.device);
  compilation->takePlan(arguments.plan);
  placed.operations = attn::usefulOperations(compilation->module()).value_or(0);
  auto library = compileAndLoad(*compilation);
  if (!library)
    return library.takeError();
  placed.library = std::move(*library), placed.interface = compilation->interface();
  return placed.library->createOnGpu();
}

static llvm::Error place(const Spec &spec, std::shared_ptr<CudaDevice> device, PlacedLibrary &placed) {
  RunTensors &tensors = *placed.tensors;
  if (llvm::Error error = llvm::joinErrors(drawTensors(inputTensors(spec), /*seed=*/1, tensors.inputs),
                                           drawTensors(parameterTensors(spec), /*seed=*/1, tensors.parameters)))
    return error;
  if (llvm::Error error = makeOutputs(placed.interface, tensors))
    return error;
  if (llvm::Error error = placed.library->prepare(tensors.kept(placed.interface)))
    return error;
  auto run = DeviceRun::make(*placed.library, std::move(device), tensors.given(placed.interface));
  if (!run)
    return run.takeError();
  placed.run = std::move(*run);
  return llvm::Error::success();
}

/// One run of each first, which is not counted.
static llvm::Error timeInTurn(PlacedLibrary &candidate, PlacedLibrary &exact) {
  auto start = std::chrono::steady_clock::now();
  for (int round = -1; round < 200; ++round) {
    for (PlacedLibrary *each : {&candidate, &exact})
      if (llvm::Error error = each->time())
        return error;
    if (round < 0)
      candidate.seconds.clear(), exact.seconds.clear();
    if (round >= 6 && std::chrono::steady_clock::now() - start > std::chrono::seconds(1))
      break;
  }
  return llvm::Error::success();
}

static llvm::Error measure(const Spec &spec, const Arguments &arguments, std::shared_ptr<CudaDevice> &device,
                           DeviceRow &row) {
  PlacedLibrary candidate, exact;
  if (llvm::Error error = load(spec, arguments, candidate))
    return error;
  if (!device) { // after the library, which says best what is wrong with the machine
    auto opened = CudaDevice::open();
    if (!opened)
      return opened.takeError();
    device = *opened;
  }
  if (llvm::Error error = load(exactOf(spec), arguments, exact))
    return error;
  if (llvm::Error error = place(spec, device, candidate))
    return error;
  if (llvm::Error error = place(exactOf(spec), device, exact))
    return error;
  if (llvm::Error error = timeInTurn(candidate, exact))
    return error;
  row = {spec.name, candidate.seconds, exact.seconds, candidate.operations, static_cast<double>(candidate.run->bytes())};
  return llvm::Error::success();
}

static void printTable(llvm::ArrayRef<DeviceRow> rows, double copyRate) {
  llvm::outs() << "spec                          median ms   least … most ms      GFLOP/s      GB/s   of copying   exact / this\n";
  for (const DeviceRow &row : rows) {
    Spread time(row.seconds), exact(row.exactSeconds);
    double rate = row.bytes / time.median;
    llvm::outs() << llvm::format("%-28s%11.3f%10.3f …%8.3f%13.1f%10.1f%13.2f%15.2f\n", row.name.c_str(), time.median * 1e3,
                                 time.least * 1e3, time.most * 1e3, row.operations / time.median / 1e9, rate / 1e9,
                                 rate / copyRate, exact.median / time.median);
  }
  llvm::outs() << countedOperations << "\n";
}

static void printJson(llvm::ArrayRef<DeviceRow> rows, const Arguments &arguments, double copyRate) {
  llvm::json::Array list;
  for (const DeviceRow &row : rows) {
    Spread time(row.seconds), exact(row.exactSeconds);
    list.push_back(llvm::json::Object{{"spec", row.name},
                                      {"target", arguments.target},
                                      {"runs", static_cast<int64_t>(row.seconds.size())},
                                      {"median_seconds", time.median},
                                      {"least_seconds", time.least},
                                      {"most_seconds", time.most},
                                      {"useful_operations", row.operations},
                                      {"tensor_bytes", row.bytes},
                                      {"copy_bytes_per_second", copyRate},
                                      {"fraction_of_copying", row.bytes / time.median / copyRate},
                                      {"exact_median_seconds", exact.median}});
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
}

int attune::attnc::benchOnGpu(llvm::ArrayRef<Spec> specs, const Arguments &arguments) {
  std::shared_ptr<CudaDevice> device;
  std::vector<DeviceRow> rows(specs.size());
  for (auto [spec, path, row] : llvm::zip_equal(specs, arguments.specs, rows))
    if (llvm::Error error = measure(spec, forSpec(arguments, path), device, row))
      return fail(std::move(error));
  llvm::Expected<double> copyRate = device->copyRate();
  if (!copyRate)
    return fail(copyRate.takeError());
  arguments.json ? printJson(rows, arguments, *copyRate) : printTable(rows, *copyRate);
  return Done;
}
