//===- Calibrate.cpp - attnc calibrate ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every figure is measured in turn, round after round, so that a change of the clock meets all of them alike. What
// counts is the median over rounds; the spread is the width of the middle half of the rounds as a part of the median.
//
// Peaks, exponentials and caches are measured by probes; what a kernel reaches of the peak, and what it costs to go
// from one kernel to the next, by compiled libraries.
//
//===----------------------------------------------------------------------===//
#include "DrawnLibrary.h"

#include "attune/Commands/Commands.h"
#include "attune/Cost/DeviceDescription.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Pipeline/MachineProbes.h"
#include "attune/Support/UniqueFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <cmath>
#include <sched.h>

using namespace attune;
using namespace attune::attnc;
using cost::DeviceDescription;
using cost::Fact;
using llvm::StringRef;

/// No round begins after so many seconds: a busy machine gives the probes little of itself.
static constexpr double mostSeconds = 15;

/// A spread beyond this means that the machine had other things to do.
static constexpr double quietSpread = 0.1;

namespace {
/// One measured quantity: a value a round.
struct Figure {
  StringRef what, unit;
  std::vector<double> values = {};

  double at(double part) const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<size_t>(std::lround(part * double(sorted.size() - 1)))];
  }
  double median() const { return at(0.5); }
  double spread() const { return (at(0.75) - at(0.25)) / median(); }

  Fact fact(StringRef how) const {
    return {std::stod(llvm::formatv("{0:e3}", median()).str()),
            llvm::formatv("attnc calibrate: {0}; median of {1} rounds, spread {2:f0} %", how, values.size(),
                          100 * spread())};
  }
};

struct Figures {
  Figure multiplyAdds{"multiply-adds in registers, a core", "/s"};
  Figure kernel{"part of them that a compiled kernel reaches", ""};
  Figure bf16{"time of that kernel in bf16, of its time in f32", ""};
  Figure elementwise{"other operations in tiles, a core", "/s"};
  Figure exp2{"exponentials, a core", "/s"};
  Figure first{"bytes from the first-level cache, a core", "B/s"};
  Figure second{"bytes from the second-level cache, a core", "B/s"};
  Figure third{"bytes from the third-level cache, a core", "B/s"};
  Figure main{"bytes from main memory, all cores", "B/s"};
  Figure launch{"from one kernel to the next, all cores", "s"};
  std::vector<double> shares = {}; ///< of the processor, that a round got of what it asked for

  std::vector<Figure *> all() {
    return {&multiplyAdds, &kernel, &bf16, &elementwise, &exp2, &first, &second, &third, &main, &launch};
  }
};

/// The libraries and the memory that are measured with.
struct Bench {
  DrawnLibrary products, products16, launches;
  std::vector<float> memory;
  size_t secondBytes, thirdBytes;
  int cores;
};
} // namespace

static int availableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// "AMD EPYC …", as the system calls the processor.
static std::string processorName() {
  auto buffer = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!buffer)
    return "x86-64 processor";
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    if (line.starts_with("model name"))
      return line.split(':').second.trim().str();
    rest = after;
  }
  return "x86-64 processor";
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

static llvm::Expected<DrawnLibrary> libraryOf(const std::string &yaml, int64_t threads) {
  Spec spec;
  Diagnostics diagnostics;
  if (parseSpec(SourceFile("calibrate", yaml), spec, diagnostics) != SpecStatus::Good)
    return llvm::createStringError("the specs of attnc calibrate are wrong");
  Arguments arguments;
  arguments.specs = {"calibrate"};
  arguments.threads = threads;
  return DrawnLibrary::make(spec, arguments);
}

// Quadratic kernel attention with relu is nearly all products: 2 d a pair beside one addition for the row sums.
static constexpr int64_t productTokens = 256, productWidth = 128;

static llvm::Expected<DrawnLibrary> productLibrary(StringRef dtype) {
  return libraryOf(llvm::formatv("attention: products\ndtype: {0}\nbatch: 1\nqueries: {1}\nheads: 1\nhead_dim: {2}\n"
                                 "pin: {{linearize: quadratic}\n"
                                 "mechanism: {{kind: kernel, feature_map: {{kind: relu}}\n",
                                 dtype, productTokens, productWidth),
                   1);
}

// Three kernels (state, merge, readout) with next to nothing to do.
static constexpr int launchKernels = 3;

static llvm::Expected<DrawnLibrary> launchLibrary(int cores) {
  return libraryOf(llvm::formatv("attention: launches\ndtype: f32\nbatch: 1\nqueries: 16\nheads: {0}\nhead_dim: 8\n"
                                 "pin: {{linearize: state}\n"
                                 "mechanism: {{kind: kernel, feature_map: {{kind: relu}}\n",
                                 cores),
                   cores);
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Multiply-adds a second of the compiled kernel, by processor time.
static llvm::Expected<double> kernelRate(DrawnLibrary &library, double seconds) {
  double start = threadSeconds(), elapsed = 0, runs = 0;
  do {
    if (llvm::Error error = library.run())
      return std::move(error);
    ++runs, elapsed = threadSeconds() - start;
  } while (elapsed < seconds);
  return runs * 2 * productTokens * productTokens * productWidth / elapsed;
}

/// Seconds from kernel to kernel; the threads are awake, as within a run. Of the runs of a round the tenth percentile:
/// one in which a thread had to give up its core says nothing of launches.
static llvm::Expected<double> launchSeconds(DrawnLibrary &library, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto secondsSince = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  auto begin = Clock::now();
  Figure runs{"", ""};
  do {
    auto start = Clock::now();
    if (llvm::Error error = library.run())
      return std::move(error);
    runs.values.push_back(secondsSince(start));
  } while (secondsSince(begin) < seconds);
  return runs.at(0.1) / launchKernels;
}

static llvm::Error measureRound(Bench &bench, double seconds, Figures &figures) {
  llvm::ArrayRef<float> memory = bench.memory;
  auto firstOf = [&](size_t bytes) { return memory.take_front(bytes / sizeof(float)); };
  auto start = std::chrono::steady_clock::now();
  double used = threadSeconds(), peak = probeMultiplyAdds(seconds);
  used = threadSeconds() - used;
  figures.shares.push_back(used / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  llvm::Expected<double> kernel = kernelRate(bench.products, seconds);
  if (!kernel)
    return kernel.takeError();
  llvm::Expected<double> kernel16 = kernelRate(bench.products16, seconds);
  if (!kernel16)
    return kernel16.takeError();
  llvm::Expected<double> launch = launchSeconds(bench.launches, seconds);
  if (!launch)
    return launch.takeError();
  figures.multiplyAdds.values.push_back(peak);
  figures.kernel.values.push_back(std::min(1.0, *kernel / peak));
  figures.bf16.values.push_back(std::min(1.0, *kernel / *kernel16));
  figures.elementwise.values.push_back(probeElementwise(seconds));
  figures.exp2.values.push_back(probeExp2(seconds));
  figures.first.values.push_back(probeRead(firstOf(16384), seconds));
  figures.second.values.push_back(probeRead(firstOf(bench.secondBytes / 2), seconds));
  figures.third.values.push_back(probeRead(firstOf(bench.thirdBytes / 2), seconds));
  figures.main.values.push_back(probeReadTogether(memory, bench.cores, seconds));
  figures.launch.values.push_back(*launch);
  return llvm::Error::success();
}

static llvm::Expected<Bench> makeBench(bool quick) {
  int cores = availableCores();
  auto products = productLibrary("f32");
  if (!products)
    return products.takeError();
  auto products16 = productLibrary("bf16");
  if (!products16)
    return products16.takeError();
  auto launches = launchLibrary(cores);
  if (!launches)
    return launches.takeError();
  Bench bench{std::move(*products), std::move(*products16), std::move(*launches), {}, secondLevelBytes(),
              thirdLevelBytes(),    cores};
  bench.secondBytes = bench.secondBytes ? bench.secondBytes : 1 << 20;
  bench.thirdBytes = std::max(bench.thirdBytes, 4 * bench.secondBytes);
  // Four times what the caches hold, but not the whole memory of the machine.
  size_t bytes = std::min<size_t>(4 * bench.thirdBytes, size_t(1) << 29);
  bench.memory.assign(std::max(quick ? bench.thirdBytes : bytes, bench.thirdBytes) / sizeof(float), 1.0f);
  return bench;
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

static DeviceDescription describe(const Figures &figures, const Bench &bench, StringRef name) {
  DeviceDescription device;
  int bits = probeVectorBits();
  device.name = name.str();
  device.summary = llvm::formatv("{0}, {1} cores, {2}-bit vectors", processorName(), bench.cores, bits);
  device.target = "cpu";
  device.cores = {double(bench.cores), "processors that attnc calibrate might run on"};
  device.productsPerSecond =
      figures.multiplyAdds.fact(llvm::formatv("{0}-bit multiply-adds of f32 in registers", bits).str());
  device.f32ProductPasses = {1, "products of 16 bits have a number of their own on a CPU"};
  std::string kernel = llvm::formatv("a compiled kernel, quadratic relu attention of {0} tokens and width {1}",
                                     productTokens, productWidth);
  device.bf16ProductPasses = figures.bf16.fact(kernel + ", in bf16 beside f32");
  device.productEfficiency = figures.kernel.fact(kernel);
  device.elementwisePerSecond =
      figures.elementwise.fact("maximum, difference and sum over a tile in the nearest cache");
  device.exp2PerSecond = figures.exp2.fact("the polynomial of the kernels over such a tile");
  device.nearBytesPerSecond = figures.second.fact("one thread reads half of the second-level cache");
  device.mainBytesPerSecond = figures.main.fact(
      llvm::formatv("all cores read {0} MiB together", bench.memory.size() * sizeof(float) >> 20).str());
  device.launchSeconds = figures.launch.fact("a compiled library of three kernels that have next to nothing to do");
  device.fastBytes = {double(bench.secondBytes), "the second-level cache of a core, as the system tells it"};
  device.accumulatorsPerThread = {0, "register tiles are chosen by the lowering"};
  return device;
}

static void printFigure(const Figure &figure, llvm::raw_ostream &out) {
  double value = figure.median();
  const char *scale = "";
  if (value >= 1e9)
    value /= 1e9, scale = "G";
  else if (figure.unit == "s")
    value *= 1e6, scale = "u";
  out << llvm::left_justify(figure.what, 46) << llvm::format("%10.2f %s", value, scale) << figure.unit
      << llvm::format("   spread %.0f %%\n", 100 * figure.spread());
}

/// What was too unsteady, with a comma between; empty on a quiet machine.
static std::string unsteady(Figures &figures) {
  std::string list;
  std::sort(figures.shares.begin(), figures.shares.end());
  if (double share = figures.shares[figures.shares.size() / 2]; share < 1 - quietSpread)
    list = llvm::formatv("other programs took {0:f0} % of a core", 100 * (1 - share));
  for (const Figure *figure : figures.all())
    if (figure->spread() > quietSpread)
      list += llvm::formatv("{0}spread of {1} ({2:f0} %)", list.empty() ? "" : ", ", figure->what, 100 * figure->spread());
  return list;
}

static int write(const Arguments &arguments, const DeviceDescription &device, const std::string &busy) {
  llvm::Error error = writeFile(arguments.output.empty() ? "-" : arguments.output, [&](llvm::raw_ostream &os) {
    os << "# Measured by attnc calibrate. Rates are of f32 and of one core.\n";
    if (!busy.empty())
      os << "# The machine was busy: " << busy << ".\n";
    device.print(os);
  });
  return error ? fail(std::move(error), Wrong) : static_cast<int>(Done);
}

int attune::attnc::calibrate(const Arguments &arguments) {
  if (probeVectorBits() == 0)
    return fail("expected a processor with AVX2 and FMA, which compiled code needs, but got one without");
  llvm::Expected<Bench> bench = makeBench(arguments.quick);
  if (!bench)
    return fail(bench.takeError());
  Figures figures;
  int rounds = arguments.quick ? 3 : 25;
  double seconds = arguments.quick ? 0.001 : 0.02;
  auto start = std::chrono::steady_clock::now();
  // The first round warms up.
  for (int round = 0; round <= rounds; ++round) {
    if (round > 3 && std::chrono::steady_clock::now() - start > std::chrono::duration<double>(mostSeconds))
      break;
    if (llvm::Error error = measureRound(*bench, seconds, figures))
      return fail(std::move(error));
    for (Figure *figure : figures.all())
      if (round == 0)
        figure->values.clear();
  }
  StringRef name = arguments.output.empty() ? "host" : llvm::sys::path::stem(arguments.output);
  DeviceDescription device = describe(figures, *bench, name);
  if (std::string problem = device.check(); !problem.empty())
    return fail("the measurements make no description: " + llvm::Twine(problem));
  for (const Figure *figure : figures.all())
    printFigure(*figure, llvm::errs());
  std::string busy = unsteady(figures);
  if (!busy.empty())
    llvm::errs() << "attnc: note: the machine is busy, or its clock moves: " << busy
                 << "; calibrate again when it is quiet\n";
  return write(arguments, device, busy);
}
