//===- HostileSpecsTest.cpp - Specs that want to crash or hang the parser -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SpecText.h"

#include <gmock/gmock.h>

using namespace attune;

namespace {

/// Parses `text`; the diagnostics as printed. Whatever the text, this must end soon and without a crash.
std::string refuse(const std::string &text) {
  SourceFile file("probe.yaml", text);
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Invalid);
  EXPECT_FALSE(diagnostics.empty());
  std::string result;
  llvm::raw_string_ostream os(result);
  print(diagnostics, file, os);
  return result;
}

std::string repeat(llvm::StringRef text, size_t count) {
  std::string result;
  while (count--)
    result += text;
  return result;
}

} // namespace

TEST(HostileSpecs, DeepNesting) {
  EXPECT_THAT(refuse(repeat("[", 100000)), testing::HasSubstr("levels"));
  EXPECT_THAT(refuse(repeat("{a: ", 100000)), testing::HasSubstr("levels"));
  EXPECT_THAT(refuse(repeat("- ", 100000)), testing::HasSubstr("levels"));
  EXPECT_THAT(refuse(repeat("? ", 100000)), testing::HasSubstr("levels"));
  std::string stairs;
  for (size_t i = 0; i < 1000; ++i)
    stairs += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(refuse(stairs), testing::HasSubstr("levels"));
}

TEST(HostileSpecs, ManyMistakes) {
  std::string text;
  for (int i = 0; i < 20000; ++i)
    text += "unknown" + std::to_string(i) + ": 1\n";
  std::string report = refuse(text);
  EXPECT_THAT(report, testing::HasSubstr("only the first 100 mistakes"));
  EXPECT_LT(report.size(), 200000u);
}

TEST(HostileSpecs, LongWords) {
  std::string word(500000, 'a');
  EXPECT_LT(refuse(word + ": 1\n").size(), 4000u);
  EXPECT_LT(refuse(specText("queries: " + word + "\n")).size(), 4000u);
  EXPECT_LT(refuse(specText("queries: " + std::string(500000, '9') + "\n")).size(), 4000u);
  EXPECT_LT(refuse("\"" + word + "\": 1\n").size(), 4000u);
  EXPECT_LT(refuse("[" + repeat("a, ", 200000)).size(), 4000u);
}

TEST(HostileSpecs, ManyParts) {
  refuse(specText("queries: 8\nparts:\n" + repeat("  - {heads: 2147483647, mechanism: {kind: softmax}}\n", 15000)));
}

TEST(HostileSpecs, BytesThatAreNoText) {
  EXPECT_THAT(refuse(std::string("attention: \0x", 13)), testing::HasSubstr("probe.yaml:1:1: error: expected UTF-8"));
  EXPECT_THAT(refuse("a: \xff\xfe\n"), testing::HasSubstr("number 4 of line 1"));
  EXPECT_THAT(refuse("\xff\xfe"
                     "a\0"),
              testing::HasSubstr("expected UTF-8"));
  EXPECT_THAT(refuse("a: \"\\x1b[31m\"\n"), testing::Not(testing::HasSubstr("\x1b")));
}

TEST(HostileSpecs, AByteOrderMarkCountsNoColumn) {
  EXPECT_THAT(refuse("\xef\xbb\xbf"
                     "colour: 1\n"),
              testing::HasSubstr("probe.yaml:1:1: error: expected one of"));
}

TEST(HostileSpecs, LargeFilesAreNotRead) {
  TemporaryFolder folder;
  std::error_code code;
  {
    llvm::raw_fd_ostream out(folder.file("large.yaml"), code);
    std::string line = "# " + std::string(1021, 'x') + "\n";
    for (int i = 0; i < 1025; ++i)
      out << line;
  }
  Spec spec;
  std::string errors;
  llvm::raw_string_ostream os(errors);
  EXPECT_EQ(loadSpec(folder.file("large.yaml"), spec, os), SpecStatus::Invalid);
  EXPECT_THAT(errors, testing::HasSubstr("large.yaml:1:1: error: expected a file of at most 1048576 bytes"));
  EXPECT_EQ(loadSpec("/dev/zero", spec, os), SpecStatus::Invalid);
  EXPECT_EQ(loadSpec(folder.str(), spec, os), SpecStatus::Invalid);
}
