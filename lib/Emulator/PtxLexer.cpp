//===- PtxLexer.cpp - Words of PTX text -----------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxLexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune::ptx;
using llvm::StringRef;

static bool isWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

void Lexer::drop(size_t count) {
  line += unsigned(rest.take_front(count).count('\n'));
  rest = rest.drop_front(count);
}

/// Blanks and comments of both kinds; one that does not end takes the rest.
void Lexer::skipSpace() {
  for (;;) {
    drop(rest.size() - rest.ltrim(" \t\r\n").size());
    if (rest.starts_with("//"))
      drop(rest.take_until([](char c) { return c == '\n'; }).size());
    else if (rest.starts_with("/*"))
      drop(std::min(rest.size(), rest.find("*/", 2) == StringRef::npos ? rest.size() : rest.find("*/", 2) + 2));
    else
      return;
  }
}

Token Lexer::take(Token::Kind kind, size_t length, size_t skip) {
  Token token{kind, rest.slice(skip, length), line};
  drop(length);
  return token;
}

/// The length of a dotted word with its `::` parts, the dot included.
static size_t dottedLength(StringRef text) {
  size_t length = 1;
  while (length < text.size()) {
    if (isWord(text[length]))
      ++length;
    else if (text.substr(length).starts_with("::"))
      length += 2;
    else
      break;
  }
  return length;
}

Token Lexer::next() {
  skipSpace();
  if (rest.empty())
    return {Token::End, "the end of the text", line};
  char first = rest.front();
  auto wordLength = [&] { return 1 + rest.drop_front().take_while(isWord).size(); };
  if (llvm::isDigit(first))
    return take(Token::Number, wordLength());
  if (isWord(first) || first == '%')
    return take(Token::Identifier, wordLength());
  if (first == '.' && dottedLength(rest) > 1)
    return take(Token::Dotted, dottedLength(rest), 1);
  if (size_t end = rest.find('"', 1); first == '"' && end != StringRef::npos)
    return take(Token::String, end + 1);
  return take(StringRef("{}[](),;:<>=+-!|@").contains(first) ? Token::Punctuation : Token::Unknown, 1);
}
