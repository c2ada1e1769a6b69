//===- Diagnostics.cpp - Errors with a place and a remedy ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace attune {

/// Columns of the source shown at once; a longer line is cut around the caret.
static constexpr int64_t shownColumns = 200;

void Diagnostics::add(Position at, std::string expected, std::string got, std::string note) {
  if (!full())
    list_.push_back({at, std::move(expected), std::move(got), std::move(note)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = list_;
  std::stable_sort(result.begin(), result.end(), [](const Diagnostic &a, const Diagnostic &b) { return a.at < b.at; });
  return result;
}

/// The code points of `text` as strings that are safe on a terminal; what is not printable becomes an escape.
static std::vector<std::string> printableCodePoints(llvm::StringRef text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    uint32_t code = 0;
    unsigned length = decodeUtf8(text, code);
    bool control = length && (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
                              (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069));
    if (length == 0)
      result.push_back("\\x" + llvm::utohexstr(static_cast<unsigned char>(text[0]), true, 2));
    else if (control && code != '\t')
      result.push_back("\\u" + llvm::utohexstr(code, true, 4));
    else
      result.push_back(text.take_front(length).str());
    text = text.drop_front(std::max(length, 1u));
  }
  return result;
}

std::string quoted(llvm::StringRef text, size_t limit) {
  std::string line, separator;
  size_t count = 0;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, " \t\n\v\f\r");
  for (llvm::StringRef word : words) {
    line += separator;
    count += separator.size();
    separator = " ";
    for (const std::string &point : printableCodePoints(word)) {
      if (count++ >= limit)
        return "'" + line + "...'";
      line += point;
    }
  }
  return line.empty() ? "nothing" : "'" + line + "'";
}

void print(const Diagnostic &diagnostic, const SourceFile &file, llvm::raw_ostream &os) {
  Position at = diagnostic.at;
  os << file.name() << ':' << at.line << ':' << at.column << ": error: " << diagnostic.message() << '\n';
  std::vector<std::string> points = printableCodePoints(file.line(at.line));
  int64_t caret = std::min<int64_t>(at.column - 1, points.size());
  int64_t first = std::max<int64_t>(0, caret - shownColumns / 2);
  int64_t last = std::min<int64_t>(points.size(), first + shownColumns);
  for (int64_t i = first; i < last; ++i)
    os << points[i];
  os << '\n';
  // A tab is repeated, so that the caret stands under its column whatever the width of a tab.
  for (int64_t i = first; i < caret; ++i)
    os << (points[i] == "\t" ? std::string("\t") : std::string(points[i][0] == '\\' ? points[i].size() : 1, ' '));
  os << "^\n";
  if (!diagnostic.note.empty())
    os << "note: " << diagnostic.note << '\n';
}

void print(const Diagnostics &diagnostics, const SourceFile &file, llvm::raw_ostream &os) {
  for (const Diagnostic &diagnostic : diagnostics.sorted())
    print(diagnostic, file, os);
  if (diagnostics.full())
    os << "note: only the first " << Diagnostics::limit << " mistakes are shown\n";
}

} // namespace attune
