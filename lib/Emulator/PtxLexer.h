//===- PtxLexer.h - Words of PTX text ---------------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_PTXLEXER_H
#define ATTUNE_EMULATOR_PTXLEXER_H

#include "llvm/ADT/StringRef.h"

namespace attune::ptx {

/// A word of the text (4.1 to 4.4 of the PTX ISA). `Dotted` is a directive or a modifier; its text has no dot.
/// Punctuation is one character.
struct Token {
  enum Kind { End, Identifier, Dotted, Number, String, Punctuation, Unknown };
  Kind kind = End;
  llvm::StringRef text;
  unsigned line = 1;

  bool is(char c) const { return kind == Punctuation && text.front() == c; }
  bool isDotted(llvm::StringRef name) const { return kind == Dotted && text == name; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : rest(text) {}
  Token next();

private:
  void skipSpace();
  Token take(Token::Kind kind, size_t length, size_t drop = 0);
  void drop(size_t count);

  llvm::StringRef rest;
  unsigned line = 1;
};

} // namespace attune::ptx

#endif // ATTUNE_EMULATOR_PTXLEXER_H
