//===- SizeProgram.cpp - Arithmetic on sizes, compiled --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SizeProgram.h"

#include "llvm/Support/MathExtras.h"

using namespace attune;
using namespace attune::cost;

int64_t cost::apply(Step step, int64_t a, int64_t b) {
  switch (step) {
  case Step::Add:
    return a + b;
  case Step::Sub:
    return a - b;
  case Step::Mul:
    return a * b;
  case Step::FloorDiv:
    return b > 0 ? llvm::divideFloorSigned(a, b) : 0; // a size of 0 divides nothing that is run
  case Step::Rem:
    return b > 0 ? a - b * llvm::divideFloorSigned(a, b) : 0;
  case Step::Min:
    return std::min(a, b);
  case Step::Max:
    return std::max(a, b);
  default:
    return 0;
  }
}

Register SizeProgram::emit(Instruction instruction) {
  auto [place, isNew] = known.try_emplace({instruction.step, instruction.a, instruction.b, instruction.number},
                                          static_cast<Register>(code.size()));
  if (isNew)
    code.push_back(instruction);
  return place->second;
}

std::optional<int64_t> SizeProgram::constantOf(Register value) const {
  return code[value].step == Step::Constant ? std::optional(code[value].number) : std::nullopt;
}

bool SizeProgram::isNonNegative(Register value) const {
  const Instruction &made = code[value];
  switch (made.step) {
  case Step::Constant:
    return made.number >= 0;
  case Step::Input:
  case Step::Variable:
  case Step::Rem:
    return true;
  case Step::Sub:
    return false;
  case Step::Max:
    return isNonNegative(made.a) || isNonNegative(made.b);
  default:
    return isNonNegative(made.a) && isNonNegative(made.b);
  }
}

bool SizeProgram::isMultipleOf(Register value, int64_t divisor) const {
  const Instruction &made = code[value];
  auto a = [&] { return isMultipleOf(made.a, divisor); };
  auto b = [&] { return isMultipleOf(made.b, divisor); };
  switch (made.step) {
  case Step::Constant:
    return made.number % divisor == 0;
  case Step::Mul:
    return a() || b();
  case Step::Add:
  case Step::Sub:
  case Step::Min:
  case Step::Max:
    return a() && b();
  default:
    return false;
  }
}

/// What needs no instruction.
static std::optional<Register> simplified(const SizeProgram &program, Step step, Register a, Register b) {
  std::optional<int64_t> left = program.constantOf(a), right = program.constantOf(b);
  bool isUnit = step == Step::Mul || step == Step::FloorDiv;
  if (right && *right == 0 && step == Step::Mul)
    return b;
  if (right && ((isUnit && *right == 1) || (*right == 0 && (step == Step::Add || step == Step::Sub))))
    return a;
  if (left && ((step == Step::Add && *left == 0) || (step == Step::Mul && *left == 1)))
    return b;
  if ((step == Step::Min || step == Step::Max) && a == b)
    return a;
  if (step == Step::Max && left == 0 && program.isNonNegative(b))
    return b;
  if (step == Step::Max && right == 0 && program.isNonNegative(a))
    return a;
  return std::nullopt;
}

Register SizeProgram::binary(Step step, Register a, Register b) {
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    return constant(apply(step, *left, *right));
  if (step == Step::Rem && right && *right > 0 && isMultipleOf(a, *right))
    return constant(0);
  if (std::optional<Register> simple = simplified(*this, step, a, b))
    return *simple;
  if (step == Step::Sub && a == b)
    return constant(0);
  bool commutes = step == Step::Add || step == Step::Mul || step == Step::Min || step == Step::Max;
  if (commutes && a > b)
    std::swap(a, b);
  return emit({step, a, b, 0, variablesOf(a) | variablesOf(b)});
}

std::optional<int64_t> SizeProgram::slopeOf(Register value, unsigned variable) const {
  const Instruction &made = code[value];
  if (!(made.variables >> variable & 1))
    return 0;
  if (made.step == Step::Variable)
    return 1;
  std::optional<int64_t> a = slopeOf(made.a, variable), b = slopeOf(made.b, variable);
  if (!a || !b)
    return std::nullopt;
  if (made.step == Step::Add || made.step == Step::Sub)
    return apply(made.step, *a, *b);
  if (made.step != Step::Mul)
    return std::nullopt;
  if (std::optional<int64_t> factor = constantOf(made.b))
    return *a * *factor;
  if (std::optional<int64_t> factor = constantOf(made.a))
    return *factor * *b;
  return std::nullopt;
}

Register SizeProgram::atZero(Register value, unsigned variable) {
  Instruction made = code[value];
  if (!(made.variables >> variable & 1))
    return value;
  if (made.step == Step::Variable)
    return constant(0);
  Register a = atZero(made.a, variable), b = atZero(made.b, variable);
  return binary(made.step, a, b);
}
