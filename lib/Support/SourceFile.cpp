//===- SourceFile.cpp - A text file and its lines ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/SourceFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace attune {

unsigned decodeUtf8(llvm::StringRef text, uint32_t &codePoint) {
  if (text.empty())
    return 0;
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) {
    codePoint = lead;
    return 1;
  }
  unsigned length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length)
    return 0;
  codePoint = lead & (0x7f >> length);
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
    codePoint = codePoint << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = codePoint >= 0xd800 && codePoint < 0xe000;
  return codePoint < smallest[length] || surrogate || codePoint > 0x10ffff ? 0 : length;
}

/// Bytes of the line break that starts `text`, 0 if none does.
static unsigned lineBreak(llvm::StringRef text) {
  if (text.starts_with("\r\n"))
    return 2;
  if (text.starts_with("\n") || text.starts_with("\r"))
    return 1;
  if (text.starts_with("\xc2\x85")) // NEL
    return 2;
  if (text.starts_with("\xe2\x80\xa8") || text.starts_with("\xe2\x80\xa9")) // LS, PS
    return 3;
  return 0;
}

SourceFile::SourceFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  size_t start = 0;
  for (size_t at = 0; at < text_.size();) {
    unsigned length = lineBreak(llvm::StringRef(text_).drop_front(at));
    if (length == 0) {
      ++at;
      continue;
    }
    lines_.emplace_back(start, at);
    at += length;
    start = at;
  }
  lines_.emplace_back(start, text_.size());
}

llvm::StringRef SourceFile::line(int64_t number) const {
  if (number < 1 || number > static_cast<int64_t>(lines_.size()))
    return "";
  auto [begin, end] = lines_[number - 1];
  return llvm::StringRef(text_).slice(begin, end);
}

llvm::Expected<SourceFile> SourceFile::read(llvm::StringRef path, size_t limit) {
  auto fail = [](const llvm::Twine &what) { return llvm::createStringError(llvm::inconvertibleErrorCode(), what); };
  std::string name = path.str();
  std::FILE *file = std::fopen(name.c_str(), "rb");
  if (!file)
    return fail("expected a readable file, but got " + llvm::Twine(std::strerror(errno)));
  std::string text;
  char buffer[1 << 14];
  size_t count;
  // One byte past the limit is enough to know that the file is too large, even where it has no end.
  while (text.size() <= limit && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, count);
  int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error)
    return fail("expected a readable file, but got " + llvm::Twine(std::strerror(error)));
  if (text.size() > limit)
    return fail("expected a file of at most " + llvm::Twine(limit) + " bytes, but got more");
  return SourceFile(std::move(name), std::move(text));
}

} // namespace attune
