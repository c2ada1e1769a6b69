//===- FuzzSpec.cpp - Any text as a spec, up to its kernels ---------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spec that the parser takes is written and parsed again, and goes as far as `attnc explain` and `attnc compile
// --emit tile` go, for the CPU or a GPU as the text's hash says.
//
//===----------------------------------------------------------------------===//
#include "TextMutator.h"

#include "MechanismKind.h"
#include "Mechanisms/FeatureMap.h"
#include "ParseFields.h"

#include "attune/Frontend/SpecParser.h"
#include "attune/Frontend/SpecTensors.h"
#include "attune/Frontend/WriteSpec.h"
#include "attune/Pipeline/Compilation.h"
#include "attune/Laws/LawList.h"

#include "llvm/Support/xxhash.h"

using namespace attune;

static fuzz::Words wordsOfSpecs() {
  fuzz::Words words;
  auto add = [&](auto &&names) { words.insert(words.end(), names.begin(), names.end()); };
  add(topFields()), add(stabilizers());
  for (const KindTable *table : {&mechanismTable(), &featureMapTable()})
    add(table->names()), add(table->allFields());
  for (const ListedLaw &law : listedLaws())
    words.push_back(law.name.str());
  for (const ListedLaw &law : approximateLawList())
    words.push_back(law.name.str());
  return words;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostBytes, unsigned seed) {
  static const fuzz::Words words = wordsOfSpecs();
  return fuzz::mutateText(data, size, mostBytes, seed, words);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize, const uint8_t *other, size_t otherSize,
                                            uint8_t *out, size_t mostBytes, unsigned seed) {
  return fuzz::crossTexts(one, oneSize, other, otherSize, out, mostBytes, seed);
}

static SpecStatus parse(llvm::StringRef text, Spec &spec) {
  Diagnostics diagnostics;
  SourceFile file("fuzz.yaml", text.str());
  SpecStatus status = parseSpec(file, spec, diagnostics);
  print(diagnostics, file, llvm::nulls());
  if ((status == SpecStatus::Good) != diagnostics.empty())
    std::abort();
  return status;
}

static void compile(const Spec &spec, uint64_t hash) {
  static constexpr llvm::StringLiteral targets[] = {"cpu", "sm_80", "sm_90a"};
  int status = 0;
  auto compilation = Compilation::fromSpec(spec, "fuzz.yaml", targets[hash % 3], status, llvm::nulls());
  if (!compilation)
    std::abort(); // a correct spec has a module
  (void)compilation->advance(Stage::Tile);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  Spec spec, same;
  if (parse(text, spec) != SpecStatus::Good)
    return 0;
  if (parse(writeSpec(spec), same) != SpecStatus::Good || writeSpec(same) != writeSpec(spec))
    std::abort();
  inputTensors(spec, Direction::Backward), parameterTensors(spec), gradientNames(spec);
  uint64_t hash = llvm::xxh3_64bits(text);
  Spec resolved = hash % 2 ? resolveSizes(spec, 2, 64, 64) : spec;
  Diagnostics diagnostics;
  if (checkSizes(resolved, diagnostics))
    compile(resolved, hash / 2);
  return 0;
}
