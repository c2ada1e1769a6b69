//===- PtxParser.h - Reads PTX text -----------------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_PTXPARSER_H
#define ATTUNE_EMULATOR_PTXPARSER_H

#include "Ptx.h"
#include "PtxLexer.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace attune::ptx {

/// Recursive descent without recursion: nothing nests but scopes, which are a list. Each method takes what it is named
/// after and gives false once something is wrong, which `problem` then says: what comes first.
class Parser {
public:
  explicit Parser(llvm::StringRef text) : text(text), lexer(text), token(lexer.next()) {}
  llvm::Expected<Module> run();

private:
  // Words.
  bool fail(unsigned line, const llvm::Twine &message);
  bool expected(const llvm::Twine &what);
  void advance() { token = lexer.next(); }
  bool take(char punctuation);
  bool require(char punctuation);
  bool identifier(llvm::StringRef &name, const llvm::Twine &what);
  bool dotted(llvm::StringRef &name, const llvm::Twine &what);
  bool integer(uint64_t &value, const llvm::Twine &what);
  bool declare(llvm::StringSet<> &names, llvm::StringRef name);

  // Module: PtxParser.cpp.
  bool header();
  bool target();
  bool toplevel();
  bool entry();
  bool parameters(Entry &entry);
  bool bounds(Bounds &bounds);
  bool three(std::array<uint64_t, 3> &sizes);
  bool variable(Variable &variable);
  bool alignment(uint64_t &value);
  bool initial(Variable &variable);

  // Bodies: PtxStatements.cpp.
  struct RegisterGroup {
    unsigned first, count; ///< count 0: one register of just this name
    DataType type;
  };
  bool body(Entry &entry);
  bool statement(Entry &entry);
  bool registers();
  bool addRegisters(llvm::StringRef stem, unsigned count, DataType type);
  void openScope(Entry &entry);
  void closeScope();
  bool guard(Instruction &instruction);
  bool instruction(Entry &entry, Instruction instruction);
  bool operand(Operand &operand);
  bool simpleOperand(Operand &operand);
  bool constant(Operand &operand);
  bool vector(Operand &operand);
  bool address(Operand &operand);
  bool findRegister(llvm::StringRef name, Operand &operand) const;

  llvm::StringRef text;
  Lexer lexer;
  Token token;
  Module module;
  std::string problem;
  llvm::StringSet<> globals; ///< variables and entries
  llvm::StringSet<> locals;  ///< parameters, variables and labels (with their scopes) of an entry
  unsigned registerCount = 0;
  struct Scope {
    unsigned labels;
    llvm::StringMap<RegisterGroup> registers;
  };
  std::vector<Scope> scopes;
};

} // namespace attune::ptx

#endif // ATTUNE_EMULATOR_PTXPARSER_H
