//===- NobodyAsksTest.cpp - The builder and the terms know no mechanism ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the design stands on: neither the builder of regions nor a term finds out what it builds, or what for. What is asked is
// whether a value is an argument of the host.
//
//===----------------------------------------------------------------------===//
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"

#include "gtest/gtest.h"

using namespace llvm;

/// The lines of the sources in a folder that match, as `file: line`.
static std::vector<std::string> linesWith(const Twine &folder, StringRef pattern) {
  std::vector<std::string> found;
  std::error_code error;
  Regex regex(pattern);
  for (sys::fs::directory_iterator file(ATTUNE_SOURCE_DIR "/" + folder, error), end; file != end && !error;
       file.increment(error)) {
    auto text = MemoryBuffer::getFile(file->path());
    SmallVector<StringRef> lines;
    if (text)
      (*text)->getBuffer().split(lines, '\n');
    for (StringRef line : lines)
      if (regex.match(line.split("//").first))
        found.push_back((sys::path::filename(file->path()) + ": " + line.trim()).str());
  }
  return found;
}

TEST(NobodyAsks, WhichTermOrMechanismThereIs) {
  // What prints regions knows the host's ops.
  constexpr StringLiteral allowed[] = {"RegionPrinter.cpp: ",
                                       "RegionBuilder.cpp: auto argument = dyn_cast<BlockArgument>(value);"};
  constexpr StringLiteral asking = "(^|[^_a-z])(isa|dyn_cast|cast)(_or_null)?<|dynamic_cast|typeid|name\\(\\) *==";
  for (const char *folder : {"lib/Fusion", "lib/Terms"})
    for (const std::string &line : linesWith(folder, asking))
      EXPECT_TRUE(any_of(allowed, [&](StringRef begin) { return StringRef(line).starts_with(begin); }))
          << folder << '/' << line;
  EXPECT_FALSE(linesWith("lib/Kernel", asking).empty()) << "the pattern finds nothing where there is something";
}

TEST(NobodyAsks, TheBuilderKnowsNoTerms) {
  EXPECT_EQ(linesWith("lib/Fusion", "Terms\\.h|terms::|attn::[A-Z][A-Za-z]*Op|FeatureKind|Partition"),
            std::vector<std::string>());
  EXPECT_EQ(linesWith("lib/Terms", "attn::[A-Z][A-Za-z]*Op|FeatureKind|Partition|Problem"), std::vector<std::string>());
  EXPECT_FALSE(linesWith("lib/Kernel", "attn::[A-Z][A-Za-z]*Op|FeatureKind|Partition").empty());
}
