//===- FuzzDevice.cpp - Any text as the description of a device -----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read is printed and read again, and a spec is priced for it.
//
//===----------------------------------------------------------------------===//
#include "TemporaryFile.h"
#include "TextMutator.h"

#include "attune/Cost/DeviceDescription.h"
#include "attune/Frontend/SpecParser.h"
#include "attune/Pipeline/Compilation.h"

using namespace attune;
using cost::DeviceDescription;

/// Whatever stands as a word in a description that ships.
static fuzz::Words wordsOfDescriptions() {
  fuzz::Words words;
  for (const DeviceDescription &device : DeviceDescription::embedded()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    device.print(os);
    for (llvm::StringRef rest = text; !rest.empty(); rest = rest.split('\n').second)
      words.push_back(rest.split(':').first.str());
  }
  return words;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = wordsOfDescriptions();
  return fuzz::mutateText(data, size, mostBytes, seed, words);
}

/// FLuRKA in either order, over '?' keys: several laws, and lengths at which plans change.
static Spec pricedSpec() {
  static constexpr llvm::StringLiteral text = "attention: priced\ndtype: f16\nbatch: 1\nqueries: '?'\nheads: 4\n"
                                              "head_dim: 32\nmechanism: {kind: kernel, feature_map: {kind: elu1}, "
                                              "low_rank: {rank: 16}}\n";
  Spec spec;
  Diagnostics diagnostics;
  if (parseSpec(SourceFile("priced.yaml", text.str()), spec, diagnostics) != SpecStatus::Good)
    std::abort();
  return spec;
}

static void price(const DeviceDescription &device, const std::string &path) {
  static const Spec spec = pricedSpec();
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, "priced.yaml", device.target, status, llvm::nulls());
  compilation->priceFor(path);
  (void)compilation->advance(Stage::Graph); // the tiles of some plan may fit, or none's
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  llvm::Expected<DeviceDescription> device = DeviceDescription::load(text, "fuzz.yaml");
  if (!device)
    return llvm::consumeError(device.takeError()), 0;
  std::string printed;
  llvm::raw_string_ostream os(printed);
  device->print(os);
  DeviceDescription same = llvm::cantFail(DeviceDescription::load(printed, "printed.yaml"));
  if (same.cores != device->cores || same.fastBytes != device->fastBytes)
    std::abort();
  device->runOn(3);
  static fuzz::TemporaryFile file(".yaml");
  price(*device, file.holding(data, size));
  return 0;
}
