//===- PtxStatements.cpp - Reads the bodies of entries --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxParser.h"

#include "llvm/ADT/StringExtras.h"

using namespace attune::ptx;
using llvm::StringRef;
using llvm::Twine;

static constexpr unsigned mostRegisters = 1u << 20;

//===----------------------------------------------------------------------===//
// Scopes and registers
//===----------------------------------------------------------------------===//

void Parser::openScope(Entry &entry) {
  auto number = unsigned(entry.scopes.size());
  entry.scopes.push_back(scopes.empty() ? number : scopes.back().labels);
  scopes.push_back({number, {}});
}

void Parser::closeScope() { scopes.pop_back(); }

bool Parser::addRegisters(StringRef stem, unsigned count, DataType type) {
  RegisterGroup group{registerCount, count, type};
  registerCount += std::max(count, 1u);
  if (registerCount > mostRegisters)
    return fail(token.line, "expected at most " + Twine(mostRegisters) + " registers");
  if (!scopes.back().registers.try_emplace(stem, group).second)
    return fail(token.line, "expected a register that is not declared yet, but got '" + stem + "' again");
  return true;
}

/// 5.4.6: .reg .type name{<count>}, …;
bool Parser::registers() {
  StringRef typeName, stem;
  if (!dotted(typeName, "a type"))
    return false;
  DataType type = parseType(typeName);
  if (!type || (type.bits == 8))
    return fail(token.line, "expected a type that registers have, but got '." + typeName + "'");
  do {
    uint64_t count = 0;
    if (!identifier(stem, "a register"))
      return false;
    if (take('<') && (!integer(count, "a number of registers") || !require('>')))
      return false;
    if (count > mostRegisters)
      return fail(token.line, "expected at most " + Twine(mostRegisters) + " registers, but got " + Twine(count));
    if (!addRegisters(stem, unsigned(count), type))
      return false;
  } while (take(','));
  return require(';');
}

/// The innermost declaration counts: of the name itself, or of a row of registers that has its number.
bool Parser::findRegister(StringRef name, Operand &operand) const {
  StringRef stem = name.rtrim("0123456789"), digits = name.drop_front(stem.size());
  unsigned index = 0;
  bool numbered = !digits.empty() && (digits == "0" || digits.front() != '0') && !digits.getAsInteger(10, index);
  for (const Scope &scope : llvm::reverse(scopes)) {
    auto found = scope.registers.find(name);
    bool single = found != scope.registers.end() && found->second.count == 0;
    if (!single && numbered)
      found = scope.registers.find(stem);
    if (found == scope.registers.end() || (!single && (!numbered || index >= found->second.count)))
      continue;
    operand.kind = Operand::Register;
    operand.number = found->second.first + (single ? 0 : index);
    operand.type = found->second.type;
    operand.name = name;
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool Parser::body(Entry &entry) {
  if (!require('{'))
    return false;
  registerCount = 0;
  scopes.clear();
  openScope(entry);
  while (!scopes.empty())
    if (!statement(entry))
      return false;
  return true;
}

bool Parser::statement(Entry &entry) {
  if (token.kind == Token::End)
    return expected("'}' at the end of an entry");
  if (take('{')) {
    openScope(entry);
    return true;
  }
  if (take('}')) {
    closeScope();
    return true;
  }
  if (take(';'))
    return true;
  if (token.isDotted("reg")) {
    advance();
    return registers();
  }
  if (token.isDotted("pragma")) {
    advance();
    if (token.kind != Token::String)
      return expected("a string");
    advance();
    return require(';');
  }
  if (token.kind == Token::Dotted) {
    Variable found;
    if (!variable(found) || !declare(locals, found.name))
      return false;
    entry.variables.push_back(std::move(found));
    return true;
  }
  Instruction next;
  next.line = token.line;
  next.scope = scopes.back().labels;
  next.text = text.drop_front(size_t(token.text.data() - text.data()));
  if (take('@'))
    return guard(next) && identifier(next.opcode, "an instruction") && instruction(entry, std::move(next));
  if (!identifier(next.opcode, "an instruction or a label"))
    return false;
  if (!take(':'))
    return instruction(entry, std::move(next));
  entry.labels.push_back({next.opcode, next.scope, next.line, entry.instructions.size()});
  return declare(locals, (next.opcode + ":" + Twine(next.scope)).str());
}

/// 9.3: @p or @!p
bool Parser::guard(Instruction &instruction) {
  Operand predicate;
  bool negated = take('!');
  StringRef name;
  if (!identifier(name, "a predicate"))
    return false;
  if (!findRegister(name, predicate) || predicate.type.kind != DataType::Predicate)
    return fail(token.line, "expected a predicate, but got '" + name + "'");
  predicate.negated = negated;
  instruction.guard = predicate;
  return true;
}

bool Parser::instruction(Entry &entry, Instruction instruction) {
  while (token.kind == Token::Dotted) {
    instruction.modifiers.push_back(token.text);
    advance();
  }
  if (!token.is(';'))
    do {
      Operand next;
      if (!operand(next))
        return false;
      instruction.operands.push_back(std::move(next));
    } while (take(','));
  const char *end = token.text.data();
  if (!token.is(';'))
    return expected("';' at the end of an instruction");
  instruction.text = instruction.text.take_front(size_t(end - instruction.text.data()));
  advance();
  entry.instructions.push_back(std::move(instruction));
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Parser::operand(Operand &operand) {
  if (token.is('['))
    return address(operand);
  if (token.is('{'))
    return vector(operand);
  if (!simpleOperand(operand))
    return false;
  if (!take('|'))
    return true;
  Operand pair, second;
  pair.kind = Operand::Pair;
  if (!simpleOperand(second))
    return false;
  pair.parts = {std::move(operand), std::move(second)};
  operand = std::move(pair);
  return true;
}

/// A register, a special register, a name or a constant.
bool Parser::simpleOperand(Operand &operand) {
  bool negated = take('!');
  if (token.kind != Token::Identifier)
    return negated ? expected("a predicate") : constant(operand);
  StringRef name = token.text;
  advance();
  if (name == "_") {
    operand.kind = Operand::Sink;
  } else if (!findRegister(name, operand)) {
    operand.kind = name.consume_front("%") ? Operand::Special : Operand::Name;
    operand.name = name;
    if (operand.kind == Operand::Special && token.kind == Token::Dotted) {
      operand.name = StringRef(name.data(), size_t(token.text.end() - name.data()));
      advance();
    }
  }
  operand.negated = negated;
  if (negated && (operand.kind != Operand::Register || operand.type.kind != DataType::Predicate))
    return fail(token.line, "expected a predicate behind '!', but got '" + name + "'");
  return true;
}

/// 4.5: an integer, perhaps with its sign, or 0f and 0d with all digits of a number.
bool Parser::constant(Operand &operand) {
  bool negative = take('-');
  StringRef digits = token.text;
  bool single = digits.starts_with_insensitive("0f"), wide = digits.starts_with_insensitive("0d");
  if (token.kind == Token::Number && (single || wide)) {
    operand.kind = Operand::Float;
    operand.type = {DataType::Float, single ? 32u : 64u};
    StringRef hex = digits.drop_front(2);
    if (hex.size() != operand.type.bits / 4 || hex.getAsInteger(16, operand.bits))
      return expected("0f and 8 digits, or 0d and 16");
    operand.bits ^= negative ? uint64_t(1) << (operand.type.bits - 1) : 0;
    advance();
    return true;
  }
  operand.kind = Operand::Integer;
  if (!integer(operand.bits, "an operand"))
    return false;
  if (token.kind == Token::Dotted && llvm::isDigit(token.text.front()))
    return expected("a number in hexadecimal (0f…) rather than decimal digits");
  operand.bits = negative ? 0 - operand.bits : operand.bits;
  return true;
}

bool Parser::vector(Operand &operand) {
  operand.kind = Operand::Vector;
  advance();
  do {
    operand.parts.emplace_back();
    if (!simpleOperand(operand.parts.back()))
      return false;
  } while (take(','));
  return require('}');
}

/// 6.4.1: [base], [base + offset], [offset], and [base, {coordinates}].
bool Parser::address(Operand &operand) {
  advance();
  Operand offset;
  bool based = token.kind == Token::Identifier;
  if (based) {
    StringRef name = token.text;
    advance();
    if (!findRegister(name, operand))
      operand.name = name, operand.type = {};
  }
  bool signedOffset = token.is('-') || take('+');
  if (!based || signedOffset) {
    if (!constant(offset) || offset.kind != Operand::Integer)
      return expected("an offset in bytes");
    operand.bits = offset.bits;
  }
  operand.kind = Operand::Address;
  if (take(',')) {
    Operand coordinates;
    if (!token.is('{'))
      return expected("coordinates");
    if (!vector(coordinates))
      return false;
    operand.parts = std::move(coordinates.parts);
  }
  return require(']');
}
