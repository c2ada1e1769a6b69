//===- RuleNumbersTest.cpp - The rules that sources cite stand in the spec page -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/SourceFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <set>

using namespace attune;

namespace {

std::string textOf(llvm::StringRef path) {
  llvm::Expected<SourceFile> file = SourceFile::read(path, 1 << 20);
  EXPECT_TRUE(static_cast<bool>(file)) << path.str();
  return file ? file->text().str() : std::string();
}

/// Every S followed by digits in the comments of `text`.
std::set<std::string> rulesIn(llvm::StringRef text) {
  std::set<std::string> result;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.ltrim().consume_front("///"))
      continue;
    for (size_t at = line.find('S'); at != llvm::StringRef::npos; at = line.find('S', at + 1)) {
      llvm::StringRef digits = line.drop_front(at + 1).take_while(llvm::isDigit);
      if (!digits.empty() && line[at - 1] == ' ')
        result.insert("S" + digits.str());
    }
  }
  return result;
}

} // namespace

TEST(RuleNumbers, AreOnTheSpecPage) {
  std::string page = textOf(ATTUNE_SOURCE_DIR "/docs/Spec.md");
  std::set<std::string> cited;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(ATTUNE_SOURCE_DIR "/lib/Frontend", error), end; it != end && !error;
       it.increment(error))
    if (llvm::StringRef(it->path()).ends_with(".cpp"))
      cited.merge(rulesIn(textOf(it->path())));
  EXPECT_GE(cited.size(), 20u);
  for (const std::string &rule : cited)
    EXPECT_NE(page.find("| " + rule + " "), std::string::npos) << rule;
}
