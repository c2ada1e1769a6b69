//===- Bench.cpp - attnc bench ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every spec runs in turn with the exact softmax of its sizes and a measurement of the machine's peak, round after
// round, so that a change of the clock meets all of them alike; the medians are compared.
//
//===----------------------------------------------------------------------===//
#include "BackwardBench.h"
#include "DeviceBench.h"
#include "DrawnLibrary.h"
#include "PlanBench.h"

#include "attune/Commands/Commands.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Pipeline/MachinePeak.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace attune;
using namespace attune::attnc;

namespace {
struct BenchRow {
  std::string name;
  std::vector<double> seconds, exactSeconds, peaks;
  double operations = 0;
  int32_t threads = 1;
};
} // namespace

/// At least 7 rounds, then until a second has passed.
static llvm::Error measure(DrawnLibrary &candidate, DrawnLibrary &exact, BenchRow &row) {
  auto start = std::chrono::steady_clock::now();
  for (DrawnLibrary *each : {&candidate, &exact})
    if (llvm::Error error = each->run())
      return error;
  candidate.library.seconds.clear(), exact.library.seconds.clear();
  for (int round = 0; round < 200; ++round) {
    row.peaks.push_back(measureFmaPeak(0.003));
    for (DrawnLibrary *each : {&candidate, &exact})
      if (llvm::Error error = each->run())
        return error;
    if (round >= 6 && std::chrono::steady_clock::now() - start > std::chrono::seconds(1))
      break;
  }
  row.seconds = candidate.library.seconds, row.exactSeconds = exact.library.seconds;
  return llvm::Error::success();
}

static llvm::Expected<BenchRow> benchSpec(const Spec &spec, const Arguments &arguments) {
  auto candidate = DrawnLibrary::make(spec, arguments), exact = DrawnLibrary::make(exactOf(spec), arguments);
  if (!candidate || !exact)
    return llvm::joinErrors(candidate ? llvm::Error::success() : candidate.takeError(),
                            exact ? llvm::Error::success() : exact.takeError());
  BenchRow row;
  row.name = spec.name;
  row.operations = candidate->library.operations;
  llvm::Expected<attune_info> info = candidate->library.library->info();
  if (!info)
    return info.takeError();
  row.threads = info->threads;
  if (llvm::Error error = measure(*candidate, *exact, row))
    return std::move(error);
  return row;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printTable(llvm::ArrayRef<BenchRow> rows) {
  llvm::outs() << "spec                        threads   median ms   least … most ms      GFLOP/s   of f32 peak   exact / this\n";
  for (const BenchRow &row : rows) {
    Spread time(row.seconds), exact(row.exactSeconds), peak(row.peaks);
    double rate = row.operations / time.median;
    llvm::outs() << llvm::format("%-28s%6d%13.3f%10.3f …%8.3f%12.1f%13.2f%14.2f\n", row.name.c_str(), row.threads,
                                 time.median * 1e3, time.least * 1e3, time.most * 1e3, rate / 1e9,
                                 rate / (peak.median * row.threads), exact.median / time.median);
  }
  llvm::outs() << countedOperations << "\n";
}

static void printJson(llvm::ArrayRef<BenchRow> rows) {
  llvm::json::Array list;
  for (const BenchRow &row : rows) {
    Spread time(row.seconds), exact(row.exactSeconds), peak(row.peaks);
    list.push_back(llvm::json::Object{{"spec", row.name},
                                      {"threads", row.threads},
                                      {"runs", static_cast<int64_t>(row.seconds.size())},
                                      {"median_seconds", time.median},
                                      {"least_seconds", time.least},
                                      {"most_seconds", time.most},
                                      {"useful_operations", row.operations},
                                      {"peak_f32_operations_per_second_per_core", peak.median},
                                      {"fraction_of_peak", row.operations / time.median / (peak.median * row.threads)},
                                      {"exact_median_seconds", exact.median}});
  }
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
}

/// The specs with the sizes of the command line in place of '?'.
static int loadSpecs(const Arguments &arguments, std::vector<Spec> &specs) {
  for (const std::string &path : arguments.specs) {
    Spec spec;
    if (SpecStatus status = loadSpec(path, spec, llvm::errs()); status != SpecStatus::Good)
      return exitStatus(status);
    Size queries = arguments.queries ? arguments.queries : Size(4096);
    specs.push_back(resolveSizes(spec, arguments.batch ? arguments.batch : Size(1), queries,
                                 arguments.keys ? arguments.keys : queries));
    if (!specs.back().sequences)
      specs.back().sequences = arguments.sequences ? arguments.sequences : Size(8);
  }
  return Done;
}

/// The plans of all specs beside one another.
static int benchPlans(llvm::ArrayRef<Spec> specs, const Arguments &arguments) {
  llvm::Expected<std::vector<PlanTable>> tables = timePlans(specs, arguments);
  if (!tables)
    return fail(tables.takeError());
  llvm::json::Array list;
  for (const PlanTable &table : *tables)
    arguments.json ? list.push_back(plansAsJson(table)) : printPlans(table, llvm::outs());
  if (arguments.json)
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(list))) << "\n";
  return Done;
}

int attune::attnc::bench(const Arguments &arguments) {
  bool onGpu = arguments.target != "cpu";
  if (onGpu && arguments.plans > 0)
    return fail("expected --target cpu with --plans, but got " + arguments.target +
                    ": plans are timed beside one another on processors alone; leave --plans out",
                Wrong);
  if (onGpu && arguments.backward)
    return fail("expected --target cpu with --backward, but got " + arguments.target +
                    ": gradients are timed on processors alone; leave --target out",
                Wrong);
  std::vector<Spec> specs;
  if (int status = loadSpecs(arguments, specs))
    return status;
  if (onGpu)
    return benchOnGpu(specs, arguments);
  if (arguments.plans > 0)
    return benchPlans(specs, arguments);
  if (arguments.backward)
    return benchBackward(specs, arguments);
  std::vector<BenchRow> rows;
  for (auto [spec, path] : llvm::zip_equal(specs, arguments.specs)) {
    llvm::Expected<BenchRow> row = benchSpec(spec, forSpec(arguments, path));
    if (!row)
      return fail(row.takeError());
    rows.push_back(std::move(*row));
  }
  arguments.json ? printJson(rows) : printTable(rows);
  return Done;
}
