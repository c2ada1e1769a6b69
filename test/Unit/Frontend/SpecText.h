//===- SpecText.h - Specs written inside a test --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_FRONTEND_SPECTEXT_H
#define ATTUNE_TEST_UNIT_FRONTEND_SPECTEXT_H

#include "attune/Frontend/SpecParser.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

namespace attune {

/// A spec's first lines; queries and what follows are the test's.
inline std::string specText(llvm::StringRef rest) {
  return ("attention: probe\ndtype: f32\nbatch: 2\nheads: 4\nhead_dim: 16\n" + rest).str();
}

/// Parses a spec that must be free of mistakes.
inline Spec parseGood(const std::string &text) {
  SourceFile file("probe.yaml", text);
  Spec spec;
  Diagnostics diagnostics;
  EXPECT_EQ(parseSpec(file, spec, diagnostics), SpecStatus::Good);
  print(diagnostics, file, llvm::errs());
  return spec;
}

/// A new folder that goes away with the object.
class TemporaryFolder {
public:
  TemporaryFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("attune-test", path)); }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  std::string file(llvm::StringRef name) const { return (path + "/" + name).str(); }
  std::string str() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
};

} // namespace attune

#endif // ATTUNE_TEST_UNIT_FRONTEND_SPECTEXT_H
