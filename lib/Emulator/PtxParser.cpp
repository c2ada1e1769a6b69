//===- PtxParser.cpp - Reads PTX text -------------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxParser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace attune::ptx;
using llvm::StringRef;
using llvm::Twine;

DataType attune::ptx::parseType(StringRef name) {
  return llvm::StringSwitch<DataType>(name)
      .Case("pred", {DataType::Predicate, 1})
      .Case("b8", {DataType::Bits, 8})
      .Case("b16", {DataType::Bits, 16})
      .Case("b32", {DataType::Bits, 32})
      .Case("b64", {DataType::Bits, 64})
      .Case("u8", {DataType::Unsigned, 8})
      .Case("u16", {DataType::Unsigned, 16})
      .Case("u32", {DataType::Unsigned, 32})
      .Case("u64", {DataType::Unsigned, 64})
      .Case("s8", {DataType::Signed, 8})
      .Case("s16", {DataType::Signed, 16})
      .Case("s32", {DataType::Signed, 32})
      .Case("s64", {DataType::Signed, 64})
      .Case("f16", {DataType::Float, 16})
      .Case("f32", {DataType::Float, 32})
      .Case("f64", {DataType::Float, 64})
      .Case("bf16", {DataType::Bfloat, 16})
      .Default({});
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool Parser::fail(unsigned line, const Twine &message) {
  if (problem.empty())
    problem = ("ptx:" + Twine(line) + ": " + message).str();
  return false;
}

bool Parser::expected(const Twine &what) {
  return fail(token.line, "expected " + what + ", but got '" + (token.kind == Token::Dotted ? "." : "") +
                              token.text.take_front(60) + "'");
}

bool Parser::take(char punctuation) {
  bool there = token.is(punctuation);
  if (there)
    advance();
  return there;
}

bool Parser::require(char punctuation) { return take(punctuation) || expected("'" + Twine(punctuation) + "'"); }

bool Parser::identifier(StringRef &name, const Twine &what) {
  if (token.kind != Token::Identifier)
    return expected(what);
  name = token.text;
  advance();
  return true;
}

bool Parser::dotted(StringRef &name, const Twine &what) {
  if (token.kind != Token::Dotted)
    return expected(what);
  name = token.text;
  advance();
  return true;
}

/// 4.5.1: decimal, hexadecimal, octal or binary, perhaps with a U.
bool Parser::integer(uint64_t &value, const Twine &what) {
  StringRef digits = token.text;
  digits.consume_back("U");
  if (token.kind != Token::Number || digits.getAsInteger(0, value))
    return expected(what);
  advance();
  return true;
}

bool Parser::declare(llvm::StringSet<> &names, StringRef name) {
  return names.insert(name).second ||
         fail(token.line, "expected a name that is not taken, but got '" + name + "' again");
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

llvm::Expected<Module> Parser::run() {
  bool good = header();
  while (good && token.kind != Token::End)
    good = toplevel();
  if (!good)
    return llvm::createStringError(problem);
  return std::move(module);
}

/// 11.1: .version, .target and .address_size, in this order.
bool Parser::header() {
  uint64_t major = 0, minor = 0, size = 0;
  if (!token.isDotted("version"))
    return expected(".version at the beginning");
  advance();
  if (!integer(major, "the number of a version"))
    return false;
  if (token.kind != Token::Dotted || token.text.getAsInteger(10, minor) || major > 100 || minor > 9)
    return expected("the number of a version, as in 8.0");
  module.version = unsigned(10 * major + minor);
  advance();
  if (!target())
    return false;
  if (!token.isDotted("address_size"))
    return expected(".address_size 64");
  advance();
  return integer(size, "64") && (size == 64 || fail(token.line, "expected .address_size 64, but got " + Twine(size)));
}

/// 11.1.2: the version of the ISA that brought an architecture; others are refused elsewhere.
static unsigned firstVersionOf(unsigned target) {
  switch (target) {
  case 80:
    return 70;
  case 86:
    return 71;
  case 87:
    return 74;
  case 89:
  case 90:
    return 78;
  default:
    return 0;
  }
}

bool Parser::target() {
  if (!token.isDotted("target"))
    return expected(".target");
  advance();
  StringRef name = token.text;
  bool known = token.kind == Token::Identifier && name.consume_front("sm_");
  module.specific = name.consume_back("a");
  if (!known || name.getAsInteger(10, module.target))
    return expected("an architecture, as sm_80");
  unsigned least = firstVersionOf(module.target);
  if (module.version < (module.specific ? std::max(least, 80u) : least))
    return fail(token.line, "expected a .version that has sm_" + Twine(module.target) +
                                (module.specific ? "a" : "") + ", but got " + Twine(module.version / 10) + "." +
                                Twine(module.version % 10));
  advance();
  return !token.is(',') || fail(token.line, "expected no options after the architecture of .target");
}

bool Parser::toplevel() {
  if (token.isDotted("visible") || token.isDotted("weak"))
    advance();
  if (token.isDotted("entry"))
    return entry();
  Variable found;
  if (!variable(found) || !declare(globals, found.name))
    return false;
  module.variables.push_back(std::move(found));
  return true;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static std::optional<Space> spaceNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<Space>>(name)
      .Case("global", Space::Global)
      .Case("const", Space::Const)
      .Case("shared", Space::Shared)
      .Case("local", Space::Local)
      .Default(std::nullopt);
}

bool Parser::alignment(uint64_t &value) {
  if (!token.isDotted("align"))
    return true;
  advance();
  return integer(value, "an alignment") && ((llvm::isPowerOf2_64(value) && value <= 4096) ||
                                            fail(token.line, "expected an alignment that is a power of 2 up to 4096"));
}

/// 5.4: {.extern} .space {.align N} .type name{[count]} {= initial};
bool Parser::variable(Variable &variable) {
  StringRef name;
  variable.line = token.line;
  if (token.isDotted("extern"))
    variable.external = true, advance();
  std::optional<Space> space = token.kind == Token::Dotted ? spaceNamed(token.text) : std::nullopt;
  if (!space)
    return expected("an entry, or a variable of a known state space; this directive is not modelled");
  advance();
  variable.space = *space;
  if (!alignment(variable.alignment) || !dotted(name, "a type"))
    return false;
  variable.type = parseType(name);
  if (!variable.type || variable.type.kind == DataType::Predicate)
    return fail(token.line, "expected a type of 8 to 64 bits, but got '." + name + "'");
  if (!identifier(variable.name, "the name of a variable"))
    return false;
  if (take('[')) {
    variable.count = 0;
    if ((!token.is(']') && !integer(variable.count, "a number of elements")) || !require(']'))
      return false;
  }
  bool dynamic = variable.space == Space::Shared && variable.external && variable.count == 0;
  if (variable.count > (1u << 26) || (!dynamic && (variable.count == 0 || variable.external)))
    return fail(token.line, "expected a defined variable of 1 … 2^26 elements, or an array of dynamic shared memory");
  return initial(variable) && require(';');
}

bool Parser::initial(Variable &variable) {
  if (!take('='))
    return true;
  if (variable.space == Space::Shared || variable.space == Space::Local)
    return fail(token.line, "expected no initial values outside global and constant memory");
  bool list = take('{');
  do {
    Operand value;
    unsigned line = token.line, bits = variable.type.bits;
    if (!constant(value))
      return false;
    bool real = variable.type.kind == DataType::Float || variable.type.kind == DataType::Bfloat;
    bool fits = value.kind == Operand::Float
                    ? value.type.bits == bits && (real || variable.type.kind == DataType::Bits)
                    : !real && (llvm::isIntN(bits, int64_t(value.bits)) || llvm::isUIntN(bits, value.bits));
    if (!fits)
      return fail(line, "expected initial values of the type of '" + variable.name + "', but got another one");
    variable.initial.push_back(value.bits);
  } while (list && take(','));
  if (variable.initial.size() > variable.count)
    return fail(token.line,
                "expected at most " + Twine(variable.count) + " values, but got " + Twine(variable.initial.size()));
  return !list || require('}');
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool Parser::entry() {
  Entry entry;
  advance();
  entry.line = token.line;
  locals.clear();
  if (!identifier(entry.name, "the name of an entry") || !declare(globals, entry.name) ||
      (take('(') && !parameters(entry)))
    return false;
  while (token.kind == Token::Dotted)
    if (!bounds(entry.bounds))
      return false;
  if (!body(entry))
    return false;
  module.entries.push_back(std::move(entry));
  return true;
}

/// 7.1: .param .type {.ptr {.space} {.align N}} name, up to the closing parenthesis.
bool Parser::parameters(Entry &entry) {
  if (take(')'))
    return true;
  do {
    Variable parameter;
    StringRef type;
    parameter.space = Space::Param;
    parameter.line = token.line;
    if (!token.isDotted("param"))
      return expected(".param");
    advance();
    if (!alignment(parameter.alignment) || !dotted(type, "a type"))
      return false;
    parameter.type = parseType(type);
    if (!parameter.type || parameter.type.kind == DataType::Predicate)
      return fail(token.line, "expected a type of 8 to 64 bits, but got '." + type + "'");
    if (token.isDotted("ptr")) {
      advance();
      if (token.kind == Token::Dotted && spaceNamed(token.text))
        advance();
      if (!alignment(parameter.alignment))
        return false;
    }
    if (!identifier(parameter.name, "the name of a parameter") || !declare(locals, parameter.name))
      return false;
    if (token.is('['))
      return expected("parameters of at most 8 bytes; arrays are not modelled");
    entry.parameters.push_back(std::move(parameter));
  } while (take(','));
  return require(')');
}

bool Parser::three(std::array<uint64_t, 3> &sizes) {
  sizes = {1, 1, 1};
  unsigned count = 0;
  do {
    if (count == 3 || !integer(sizes[count], "a number of threads"))
      return expected("at most three numbers of threads");
    if (sizes[count] == 0 || sizes[count] > 1024)
      return fail(token.line, "expected 1 … 1024 threads, but got " + Twine(sizes[count]));
    ++count;
  } while (take(','));
  return true;
}

/// 11.4: .maxntid, .reqntid, .minnctapersm; .maxnreg, which changes no values, and .pragma are taken and mean nothing
/// here.
bool Parser::bounds(Bounds &bounds) {
  uint64_t ignored = 0;
  StringRef name = token.text;
  unsigned line = token.line;
  advance();
  if (name == "maxntid")
    return three(bounds.most);
  if (name == "reqntid")
    return three(bounds.required);
  if (name == "minnctapersm")
    return integer(bounds.blocks, "a number of blocks") &&
           ((bounds.blocks > 0 && bounds.blocks <= 64) || fail(token.line, "expected 1 … 64 blocks"));
  if (name == "maxnreg")
    return integer(ignored, "a number of registers");
  return fail(line, "directive of an entry that is not modelled: '." + name + "'");
}

llvm::Expected<Module> attune::ptx::parse(StringRef text) { return Parser(text).run(); }
