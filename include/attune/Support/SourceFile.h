//===- SourceFile.h - A text file and its lines --------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_SOURCEFILE_H
#define ATTUNE_SUPPORT_SOURCEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace attune {

/// A place in a text: line and column from 1, columns in code points. Line 0 means that there is no place.
struct Position {
  int64_t line = 0;
  int64_t column = 0;

  bool known() const { return line > 0; }
  friend bool operator==(const Position &a, const Position &b) { return a.line == b.line && a.column == b.column; }
  friend bool operator<(const Position &a, const Position &b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  }
};

/// The text of a file, cut into lines where YAML breaks them: LF, CR, CRLF, NEL, LS and PS.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  /// Reads at most `limit` bytes; a larger file, a folder or an unreadable file is an error without a file name.
  static llvm::Expected<SourceFile> read(llvm::StringRef path, size_t limit);

  llvm::StringRef name() const { return name_; }
  llvm::StringRef text() const { return text_; }
  /// Line `number` (from 1) without its break; empty beyond the end.
  llvm::StringRef line(int64_t number) const;

private:
  std::string name_;
  std::string text_;
  std::vector<std::pair<size_t, size_t>> lines_; // byte range of each line
};

/// Bytes of the UTF-8 sequence that starts `text`, or 0 if it is malformed (overlong, a surrogate, beyond U+10FFFF).
/// The code point goes to `codePoint`.
unsigned decodeUtf8(llvm::StringRef text, uint32_t &codePoint);

} // namespace attune

#endif // ATTUNE_SUPPORT_SOURCEFILE_H
