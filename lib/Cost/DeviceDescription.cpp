//===- DeviceDescription.cpp - The numbers of a machine that prices need --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/DeviceDescription.h"
#include "EmbeddedDevices.h"

#include "attune/Support/SourceFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/YAMLTraits.h"

#include <cmath>

using namespace attune;
using namespace attune::cost;

//===----------------------------------------------------------------------===//
// YAML
//===----------------------------------------------------------------------===//

template <> struct llvm::yaml::MappingTraits<Fact> {
  static void mapping(IO &io, Fact &fact) {
    io.mapRequired("value", fact.value);
    io.mapRequired("source", fact.source);
  }
  static const bool flow = true;
};

/// The facts of a description with their names in the file.
template <typename Device, typename Visit> static void forEachFact(Device &device, Visit visit) {
  visit("cores", device.cores);
  visit("products_per_second", device.productsPerSecond);
  visit("f32_product_passes", device.f32ProductPasses);
  visit("product_efficiency", device.productEfficiency);
  visit("elementwise_per_second", device.elementwisePerSecond);
  visit("exp2_per_second", device.exp2PerSecond);
  visit("near_bytes_per_second", device.nearBytesPerSecond);
  visit("main_bytes_per_second", device.mainBytesPerSecond);
  visit("launch_seconds", device.launchSeconds);
  visit("fast_bytes", device.fastBytes);
  visit("accumulators_per_thread", device.accumulatorsPerThread);
}

/// Those of one kind of machine, and what they are where a file does not tell them.
template <typename Device, typename Visit> static void forEachOptionalFact(Device &device, Visit visit) {
  const DeviceDescription otherwise;
  visit("bf16_product_passes", device.bf16ProductPasses, otherwise.bf16ProductPasses);
  visit("shuffles_per_second", device.shufflesPerSecond, otherwise.shufflesPerSecond);
}

template <> struct llvm::yaml::MappingTraits<DeviceDescription> {
  static void mapping(IO &io, DeviceDescription &device) {
    io.mapRequired("name", device.name);
    io.mapRequired("summary", device.summary);
    io.mapRequired("target", device.target);
    io.mapOptional("default", device.isDefault, false);
    device.kind = device.target == "cpu" ? tile::TargetKind::CPU : tile::TargetKind::GPU;
    forEachFact(device, [&](const char *name, Fact &fact) { io.mapRequired(name, fact); });
    forEachOptionalFact(
        device, [&](const char *name, Fact &fact, const Fact &otherwise) { io.mapOptional(name, fact, otherwise); });
  }
};

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

llvm::ArrayRef<llvm::StringLiteral> DeviceDescription::targets() {
  static constexpr llvm::StringLiteral list[] = {"cpu", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a"};
  return list;
}

void DeviceDescription::runOn(int64_t threads) {
  if (threads <= 0 || kind != tile::TargetKind::CPU)
    return;
  // Some of the cores have as large a part of the bandwidth: one alone cannot take all of it.
  if (threads < cores)
    mainBytesPerSecond = {mainBytesPerSecond * static_cast<double>(threads) / cores, "the part of as many cores"};
  // There is nobody to wake and to wait for: three kernels with next to nothing to do take .6 microseconds.
  if (threads == 1)
    launchSeconds = {std::min(launchSeconds.value, 2e-7), "measured: one thread calls kernels one after another"};
  cores = {static_cast<double>(threads), "as many threads as were asked for"};
}

/// Between which numbers a field of any machine lies: a 0 aside, wide of all there are, and far from where prices overflow.
static std::pair<double, double> range(llvm::StringRef field) {
  using Range = std::pair<double, double>;
  return llvm::StringSwitch<Range>(field)
      .Case("cores", {1, 1 << 20})
      .Case("f32_product_passes", {1, 1000})
      .Case("product_efficiency", {1e-6, 1})
      .Case("launch_seconds", {1e-12, 1000})
      .Case("accumulators_per_thread", {1, 1 << 30})
      .Case("fast_bytes", {1, 1e18})
      .Default({1e-6, 1e30}); // of rates a second
}

/// What is wrong with a number that is neither 0 nor negative; empty if nothing is.
static std::string outOfRange(llvm::StringRef field, double value) {
  auto [least, most] = range(field);
  if (value >= least && value <= most)
    return "";
  bool isLess = value < least;
  return llvm::formatv("{0}: expected at {1} {2}, but got {3}", field, isLess ? "least" : "most",
                       llvm::format("%.10g", isLess ? least : most), llvm::format("%.10g", value));
}

std::string DeviceDescription::check() const {
  if (name.empty())
    return "name: expected a name, but got none";
  if (!llvm::is_contained(targets(), target))
    return "target: expected one of " + llvm::join(targets(), ", ") + ", but got '" + target + "'";
  std::string problem;
  forEachFact(*this, [&](llvm::StringRef field, const Fact &fact) {
    bool mayBeZero = field == "accumulators_per_thread" && !mustFit();
    if (!problem.empty())
      return;
    if (!std::isfinite(fact.value) || fact.value < 0 || (fact.value == 0 && !mayBeZero))
      problem = llvm::formatv("{0}: expected a positive number, but got {1}", field, fact.value);
    else if (fact.value > 0 && !outOfRange(field, fact.value).empty())
      problem = outOfRange(field, fact.value);
    else if (llvm::StringRef(fact.source).trim().empty())
      problem = (field + ": expected the source of the number, but got none").str();
  });
  if (problem.empty() && (bf16ProductPasses <= 0 || bf16ProductPasses > 1))
    return llvm::formatv("bf16_product_passes: expected above 0 and at most 1, but got {0}", bf16ProductPasses.value);
  if (problem.empty() &&
      (!std::isfinite(shufflesPerSecond) || shufflesPerSecond < 0 || (mustFit() && shufflesPerSecond == 0)))
    return llvm::formatv("shuffles_per_second: expected a positive number{0}, but got {1}",
                         mustFit() ? " of a GPU" : " or 0", shufflesPerSecond.value);
  if (problem.empty() && shufflesPerSecond > 0)
    problem = outOfRange("shuffles_per_second", shufflesPerSecond);
  if (problem.empty() && cores != std::floor(cores))
    return llvm::formatv("cores: expected a whole number, but got {0}", cores.value);
  return problem;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Keeps the first message of the YAML reader instead of printing it.
static void keepFirst(const llvm::SMDiagnostic &diagnostic, void *context) {
  auto &message = *static_cast<std::string *>(context);
  if (message.empty())
    message = (llvm::Twine(diagnostic.getLineNo()) + ":" + llvm::Twine(diagnostic.getColumnNo() + 1) + ": " +
               diagnostic.getMessage())
                  .str();
}

/// The reader descends by recursion, so text that may nest without end must not reach it. A description has a bracket
/// for each fact; nesting by indentation alone is bounded by the size.
static bool isReadable(llvm::StringRef yaml) {
  constexpr size_t mostBytes = 65536, mostMarks = 256;
  size_t marks = 0;
  for (llvm::StringRef mark : {"[", "{", "- ", "-\t", "? ", "?\t"})
    marks += yaml.count(mark);
  return yaml.size() <= mostBytes && marks <= mostMarks;
}

/// ":LINE:1" of the field that a problem begins with; empty if it names none that the text has.
static std::string placeOf(llvm::StringRef problem, llvm::StringRef yaml) {
  std::string key = (problem.split(':').first + ":").str();
  for (int64_t line = 1; !yaml.empty(); ++line) {
    auto [first, rest] = yaml.split('\n');
    if (first.starts_with(key))
      return ":" + std::to_string(line) + ":1";
    yaml = rest;
  }
  return "";
}

llvm::Expected<DeviceDescription> DeviceDescription::load(llvm::StringRef yaml, llvm::StringRef file) {
  if (!isReadable(yaml))
    return failure(file + ": expected a device description, but got a text that is too long or too deep to be one");
  DeviceDescription device;
  std::string message;
  llvm::yaml::Input input(yaml, /*Ctxt=*/nullptr, keepFirst, &message);
  input >> device;
  if (input.error())
    return failure(file + ":" + (message.empty() ? "expected a device description, but got no valid YAML" : message));
  if (std::string problem = device.check(); !problem.empty())
    return failure(file + placeOf(problem, yaml) + ": " + problem);
  return device;
}

static constexpr size_t largestDescription = 1 << 20; // as of a spec

llvm::Expected<DeviceDescription> DeviceDescription::named(llvm::StringRef nameOrPath) {
  if (nameOrPath.ends_with(".yaml")) {
    llvm::Expected<SourceFile> file = SourceFile::read(nameOrPath, largestDescription);
    if (!file)
      return failure(nameOrPath + ": " + llvm::toString(file.takeError()));
    return load(file->text(), nameOrPath);
  }
  for (const EmbeddedDevice &device : embeddedDevices())
    if (nameOrPath == device.name)
      return load(device.yaml, nameOrPath);
  if (llvm::is_contained(targets(), nameOrPath))
    for (DeviceDescription &device : embedded())
      if (device.isDefault && device.target == nameOrPath)
        return std::move(device);
  return failure("expected a device description (" + llvm::join(names(), ", ") +
                 ", a target, or a path that ends in .yaml), but got '" + nameOrPath + "'");
}

std::vector<DeviceDescription> DeviceDescription::embedded() {
  std::vector<DeviceDescription> devices;
  for (const EmbeddedDevice &device : embeddedDevices())
    devices.push_back(llvm::cantFail(load(device.yaml, device.name)));
  return devices;
}

std::vector<std::string> DeviceDescription::names() {
  std::vector<std::string> names;
  for (const EmbeddedDevice &device : embeddedDevices())
    names.push_back(device.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// In double quotes, which YAML reads back as it was.
static std::string quoted(llvm::StringRef text) {
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(text))).str();
}

void DeviceDescription::print(llvm::raw_ostream &out) const {
  out << "name: " << quoted(name) << "\nsummary: " << quoted(summary) << "\ntarget: " << target << "\n";
  if (isDefault)
    out << "default: true\n";
  auto line = [&](const char *field, const Fact &fact) {
    out << field << ": {value: " << llvm::format("%.17g", fact.value) << ", source: " << quoted(fact.source) << "}\n";
  };
  forEachFact(*this, line);
  forEachOptionalFact(*this, [&](const char *field, const Fact &fact, const Fact &otherwise) {
    if (fact.value != otherwise.value)
      line(field, fact);
  });
}
