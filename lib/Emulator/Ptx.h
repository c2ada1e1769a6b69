//===- Ptx.h - PTX text as a tree -------------------------------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reader makes of PTX: sections 4 to 11 of the PTX ISA 9.0, as far as a compiler's output needs them. Names
// are resolved where the ISA asks for a declaration first (registers); labels and variables, which may come later, keep
// their names. Text is that of the source, which must live as long as the tree.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_PTX_H
#define ATTUNE_EMULATOR_PTX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace attune::ptx {

/// Fundamental types, 5.2.1, and the packed and alternate formats of 5.2.3 that instructions name.
struct DataType {
  enum Kind : uint8_t { None, Bits, Unsigned, Signed, Float, Bfloat, Predicate };
  Kind kind = None;
  unsigned bits = 0;

  explicit operator bool() const { return kind != None; }
  bool isInteger() const { return kind == Bits || kind == Unsigned || kind == Signed; }
  bool isSigned() const { return kind == Signed; }
  unsigned bytes() const { return bits / 8; }
  bool operator==(const DataType &) const = default;
};
/// The type that a name without its dot stands for; None if it is no such name.
DataType parseType(llvm::StringRef name);

struct Operand {
  enum Kind : uint8_t {
    Register, ///< `number`, of type `type`
    Special,  ///< `name`: tid.x and such
    Integer,  ///< `bits`, in two's complement
    Float,    ///< `bits` of type `type`
    Name,     ///< a label, a variable or a parameter
    Address,  ///< [base + bits], the base being a register (`type` is set), a name, or neither; `parts` are coordinates
    Vector,   ///< `parts`
    Pair,     ///< d|p: two `parts`
    Sink      ///< _
  };
  Kind kind = Sink;
  unsigned number = 0;
  DataType type;
  llvm::StringRef name;
  uint64_t bits = 0;
  bool negated = false; ///< !p
  std::vector<Operand> parts;
};

struct Instruction {
  unsigned line = 0;
  unsigned scope = 0; ///< of its labels
  llvm::StringRef opcode;
  llvm::SmallVector<llvm::StringRef, 8> modifiers; ///< without their dots
  std::vector<Operand> operands;
  std::optional<Operand> guard; ///< @p or @!p
  llvm::StringRef text;
};

/// A label stands before instruction `place`.
struct Label {
  llvm::StringRef name;
  unsigned scope, line;
  size_t place;
};

enum class Space : uint8_t { Generic, Global, Const, Shared, Local, Param };

struct Variable {
  Space space = Space::Global;
  llvm::StringRef name;
  DataType type;
  unsigned line = 0;
  uint64_t alignment = 0, count = 1; ///< count 0: an array of unknown size, of `external` dynamic shared memory
  bool external = false;
  std::vector<uint64_t> initial; ///< the rest is zeros
};

/// Bounds of 11.4; 0 where not given.
struct Bounds {
  std::array<uint64_t, 3> most{}, required{};
  uint64_t blocks = 0; ///< .minnctapersm
};

struct Entry {
  llvm::StringRef name;
  unsigned line = 0;
  std::vector<Variable> parameters, variables;
  Bounds bounds;
  std::vector<unsigned> scopes; ///< parent of each scope of labels; that of the first is itself
  std::vector<Label> labels;
  std::vector<Instruction> instructions;
};

struct Module {
  unsigned version = 0;  ///< 10 · major + minor
  unsigned target = 0;   ///< 80 of sm_80
  bool specific = false; ///< sm_90a: runs on no other
  std::vector<Variable> variables;
  std::vector<Entry> entries;
};

/// An error says the line, what was expected and what stands there.
llvm::Expected<Module> parse(llvm::StringRef text);

inline llvm::Error errorAt(unsigned line, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "ptx:" + llvm::Twine(line) + ": " + message);
}

} // namespace attune::ptx

#endif // ATTUNE_EMULATOR_PTX_H
