//===- PtxEdit.cpp - A change of PTX text ---------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxEdit.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace attune::test;
using llvm::StringRef;

namespace {
/// A part of a statement: blanks, an operand's name, or text.
struct Part {
  enum Kind { Blank, Operand, Text } kind;
  StringRef text;
};
} // namespace

static llvm::SmallVector<Part> partsOf(StringRef statement) {
  llvm::SmallVector<Part> parts;
  while (!statement.empty()) {
    bool blank = llvm::isSpace(statement.front()), operand = statement.front() == '<';
    size_t end = blank     ? statement.find_if_not([](char c) { return llvm::isSpace(c); })
                 : operand ? statement.find('>') + 1
                           : statement.find_first_of(" <", 1);
    StringRef text = statement.take_front(end);
    parts.push_back({blank ? Part::Blank : operand ? Part::Operand : Part::Text, text});
    statement = statement.drop_front(text.size());
  }
  return parts;
}

/// Statements begin their lines.
static llvm::Regex compile(StringRef statement) {
  std::string pattern = "\n[ \t]*";
  for (const Part &part : partsOf(statement))
    pattern += part.kind == Part::Blank      ? "[ \t\n]+"
               : part.kind == Part::Text     ? llvm::Regex::escape(part.text)
               : part.text.ends_with("...>") ? "([^]{}[]+)"
                                             : "([^], \t\n;{}[]+)";
  return llvm::Regex(pattern);
}

/// The replacement with the operands that were found.
static std::string filled(StringRef find, StringRef replacement, llvm::ArrayRef<StringRef> found) {
  llvm::SmallVector<StringRef> names;
  for (const Part &part : partsOf(find))
    if (part.kind == Part::Operand)
      names.push_back(part.text);
  std::string text;
  for (const Part &part : partsOf(replacement))
    text += part.kind == Part::Operand ? found[1 + size_t(llvm::find(names, part.text) - names.begin())] : part.text;
  return text;
}

/// On one line, and not a long one: a product of a warpgroup has a hundred operands.
static std::string shown(StringRef text) {
  static constexpr size_t most = 200, half = 90;
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  std::string line = llvm::join(words, " ");
  return line.size() <= most ? line : line.substr(0, half) + " … " + line.substr(line.size() - half);
}

std::optional<std::string> PtxEdit::apply(std::string &text) const {
  size_t from = 0;
  llvm::SmallVector<StringRef> found;
  if (!after.empty()) {
    if (!compile(after).match(text, &found))
      return std::nullopt;
    from = size_t(found.front().end() - text.data());
  }
  llvm::Regex regex = compile(find);
  std::optional<std::string> said;
  for (unsigned place = 0; regex.match(StringRef(text).drop_front(from), &found); ++place) {
    size_t begin = size_t(found.front().begin() - text.data()), length = found.front().size();
    if (place < skip) {
      from = begin + length;
      continue;
    }
    std::string with = filled(find, replacement, found);
    if (!said)
      said = "'" + shown(found.front()) + "' → '" + shown(with) + "'";
    text.replace(begin, length, "\n\t" + with);
    from = begin + 2 + with.size();
    if (!every)
      break;
  }
  return said;
}

PtxEdit attune::test::exchange(std::string find, const std::string &a, const std::string &b) {
  std::string replacement;
  for (const Part &part : partsOf(find))
    replacement += part.text == "<" + a + ">"   ? "<" + b + ">"
                   : part.text == "<" + b + ">" ? "<" + a + ">"
                                                : part.text.str();
  return {std::move(find), std::move(replacement)};
}
