//===- DiagnosticsTest.cpp - The layout of diagnostics -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Diagnostics.h"

#include "TemporaryFolder.h"

#include <gmock/gmock.h>

using namespace attune;

namespace {
std::string printed(const std::string &text, Position at, std::string note = "") {
  std::string result;
  llvm::raw_string_ostream os(result);
  print(Diagnostic{at, "this", "that", std::move(note)}, SourceFile("f.yaml", text), os);
  return result;
}
} // namespace

TEST(Diagnostics, LineCaretAndNote) {
  EXPECT_EQ(printed("one\ntwo: 2\n", {2, 6}, "do it"),
            "f.yaml:2:6: error: expected this, but got that\ntwo: 2\n     ^\nnote: do it\n");
}

TEST(Diagnostics, TabsAreRepeatedUnderTheLine) {
  EXPECT_EQ(printed("\ta\tb", {1, 4}), "f.yaml:1:4: error: expected this, but got that\n\ta\tb\n\t \t^\n");
}

TEST(Diagnostics, ColumnsAreCodePoints) {
  // Five characters of two to four bytes before the place.
  EXPECT_EQ(printed("äß€𝄞é: x", {1, 8}), "f.yaml:1:8: error: expected this, but got that\näß€𝄞é: x\n       ^\n");
}

TEST(Diagnostics, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printed("a\x1b[31m", {1, 3}), "f.yaml:1:3: error: expected this, but got that\na\\u001b[31m\n       ^\n");
  EXPECT_EQ(quoted("x\x1by"), "'x\\u001by'");
  EXPECT_EQ(quoted("\xff"), "'\\xff'");
}

TEST(Diagnostics, APlaceBeyondTheLineIsItsEnd) {
  EXPECT_EQ(printed("ab", {1, 9}), "f.yaml:1:9: error: expected this, but got that\nab\n  ^\n");
  EXPECT_EQ(printed("ab", {7, 1}), "f.yaml:7:1: error: expected this, but got that\n\n^\n");
}

TEST(Diagnostics, ALongLineIsCutAroundTheCaret) {
  std::string text = printed(std::string(100000, 'x'), {1, 50000});
  EXPECT_LT(text.size(), 600u);
  EXPECT_THAT(text, testing::HasSubstr(std::string(100, ' ') + "^\n"));
}

TEST(Diagnostics, QuotedTextIsOneShortLine) {
  EXPECT_EQ(quoted("  a \n b "), "'a b'");
  EXPECT_EQ(quoted(" \n"), "nothing");
  EXPECT_EQ(quoted("ääää", 3), "'äää...'");
  EXPECT_EQ(quoted("äää", 3), "'äää'");
}

TEST(Diagnostics, SortedByPlaceAndBounded) {
  Diagnostics diagnostics;
  diagnostics.add({2, 1}, "b", "");
  diagnostics.add({1, 5}, "a", "");
  diagnostics.add({2, 1}, "c", "");
  std::vector<Diagnostic> sorted = diagnostics.sorted();
  EXPECT_EQ(sorted[0].expected + sorted[1].expected + sorted[2].expected, "abc");
  for (int i = 0; i < 1000; ++i)
    diagnostics.add({3, 1}, "d", "");
  EXPECT_EQ(diagnostics.size(), Diagnostics::limit);
}

TEST(SourceFile, BreaksLinesWhereYamlDoes) {
  SourceFile file("f", "a\nb\r\nc\rd\xc2\x85"
                       "e\xe2\x80\xa8"
                       "f");
  for (auto [number, text] : {std::pair(1, "a"), {2, "b"}, {3, "c"}, {4, "d"}, {5, "e"}, {6, "f"}, {7, ""}})
    EXPECT_EQ(file.line(number), text);
}

TEST(SourceFile, ReadsNoMoreThanItsLimit) {
  TemporaryFolder folder;
  std::string path = folder.fileOf("f", "12345");
  EXPECT_TRUE(static_cast<bool>(SourceFile::read(path, 5)));
  EXPECT_THAT(messageOf(SourceFile::read(path, 4)), testing::HasSubstr("at most 4 bytes"));
  EXPECT_THAT(messageOf(SourceFile::read("/dev/zero", 1 << 20)), testing::HasSubstr("at most"));
  EXPECT_THAT(messageOf(SourceFile::read(folder.str(), 5)), testing::HasSubstr("a readable file"));
  EXPECT_THAT(messageOf(SourceFile::read(folder.file("none"), 5)), testing::HasSubstr("No such file"));
}

TEST(Utf8, RefusesWhatIsNotUtf8) {
  uint32_t code = 0;
  EXPECT_EQ(decodeUtf8("\xf0\x9d\x84\x9e", code), 4u);
  EXPECT_EQ(code, 0x1d11eu);
  for (llvm::StringRef bad :
       {"\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xff"})
    EXPECT_EQ(decodeUtf8(bad, code), 0u);
}
