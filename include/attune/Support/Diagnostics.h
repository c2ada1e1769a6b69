//===- Diagnostics.h - Errors with a place and a remedy ------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_DIAGNOSTICS_H
#define ATTUNE_SUPPORT_DIAGNOSTICS_H

#include "attune/Support/SourceFile.h"

#include "llvm/Support/raw_ostream.h"

namespace attune {

/// One mistake: where it is, what was expected there, what stands there, and what to do about it.
struct Diagnostic {
  Position at;
  std::string expected;
  std::string got;
  std::string note; // the remedy; empty where `expected` already says it

  std::string message() const { return "expected " + expected + ", but got " + got; }
};

/// The mistakes found in one file. They are collected in any order and read in the order of their places.
class Diagnostics {
public:
  /// More mistakes than this are counted, not kept: a hostile file cannot make the report large.
  static constexpr size_t limit = 100;

  void add(Position at, std::string expected, std::string got, std::string note = "");
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  bool full() const { return list_.size() >= limit; }
  /// Sorted by place; mistakes of one place stay in the order in which they were found.
  std::vector<Diagnostic> sorted() const;

private:
  std::vector<Diagnostic> list_;
};

/// Prints `FILE:LINE:COL: error: expected X, but got Y`, the line, a caret under the column, and `note: remedy`.
void print(const Diagnostic &diagnostic, const SourceFile &file, llvm::raw_ostream &os);
void print(const Diagnostics &diagnostics, const SourceFile &file, llvm::raw_ostream &os);

/// `text` on one line, safe for a terminal and at most `limit` code points long, in single quotes; "nothing" if empty.
std::string quoted(llvm::StringRef text, size_t limit = 60);

} // namespace attune

#endif // ATTUNE_SUPPORT_DIAGNOSTICS_H
