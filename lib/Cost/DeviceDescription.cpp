//===- DeviceDescription.cpp - The numbers of a machine that prices need --===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Cost/DeviceDescription.h"
#include "EmbeddedDevices.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
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

template <> struct llvm::yaml::ScalarEnumerationTraits<tile::TargetKind> {
  static void enumeration(IO &io, tile::TargetKind &kind) {
    io.enumCase(kind, "cpu", tile::TargetKind::CPU);
    io.enumCase(kind, "gpu", tile::TargetKind::GPU);
  }
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

template <> struct llvm::yaml::MappingTraits<DeviceDescription> {
  static void mapping(IO &io, DeviceDescription &device) {
    io.mapRequired("name", device.name);
    io.mapRequired("summary", device.summary);
    io.mapRequired("kind", device.kind);
    forEachFact(device, [&](const char *name, Fact &fact) { io.mapRequired(name, fact); });
  }
};

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

std::string DeviceDescription::check() const {
  if (name.empty())
    return "expected a name, but got none";
  std::string problem;
  forEachFact(*this, [&](llvm::StringRef field, const Fact &fact) {
    bool mayBeZero = field == "accumulators_per_thread" && !mustFit();
    if (!problem.empty())
      return;
    if (!std::isfinite(fact.value) || fact.value < 0 || (fact.value == 0 && !mayBeZero))
      problem = llvm::formatv("{0}: expected a positive number, but got {1}", field, fact.value);
    else if (llvm::StringRef(fact.source).trim().empty())
      problem = (field + ": expected the source of the number, but got none").str();
  });
  if (problem.empty() && productEfficiency > 1)
    return llvm::formatv("product_efficiency: expected at most 1, but got {0}", productEfficiency.value);
  if (problem.empty() && f32ProductPasses < 1)
    return llvm::formatv("f32_product_passes: expected at least 1, but got {0}", f32ProductPasses.value);
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
    return failure(file + ": " + problem);
  return device;
}

llvm::Expected<DeviceDescription> DeviceDescription::named(llvm::StringRef nameOrPath) {
  if (nameOrPath.ends_with(".yaml")) {
    auto buffer = llvm::MemoryBuffer::getFile(nameOrPath, /*IsText=*/true);
    if (!buffer)
      return failure(nameOrPath + ": expected a readable device description, but got '" + buffer.getError().message() +
                     "'");
    return load((*buffer)->getBuffer(), nameOrPath);
  }
  llvm::StringRef name = nameOrPath == "cpu" ? "x86-64-avx512" : nameOrPath;
  for (const EmbeddedDevice &device : embeddedDevices())
    if (name == device.name)
      return load(device.yaml, name);
  return failure("expected a device description (" + llvm::join(names(), ", ") +
                 ", or a path that ends in .yaml), but got '" + nameOrPath + "'");
}

std::vector<std::string> DeviceDescription::names() {
  std::vector<std::string> names;
  for (const EmbeddedDevice &device : embeddedDevices())
    names.push_back(device.name);
  return names;
}
