//===- SizeProgram.h - Arithmetic on sizes, compiled -*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers that depend on sizes (inputs), and on variables: the number of a program along an axis of its grid, the
// number of a step of a loop. Each is a register, the result of one instruction; operands come before what they are
// operands of. Equal instructions are one.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_COST_COUNTS_SIZEPROGRAM_H
#define ATTUNE_LIB_COST_COUNTS_SIZEPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace attune::cost {

/// FloorDiv and Rem have divisors above 0, and round towards −∞.
enum class Step : uint8_t { Constant, Input, Variable, Add, Sub, Mul, FloorDiv, Rem, Min, Max };

using Register = uint32_t;
/// A bit for each variable.
using Variables = uint64_t;
inline constexpr unsigned mostVariables = 64;

struct Instruction {
  Step step;
  Register a = 0, b = 0;
  int64_t number = 0; ///< the constant, or which input or variable
  Variables variables = 0; ///< that the result depends on
};

class SizeProgram {
public:
  Register constant(int64_t number) { return emit({Step::Constant, 0, 0, number, 0}); }
  Register input(unsigned number) { return emit({Step::Input, 0, 0, number, 0}); }
  Register variable(unsigned number) { return emit({Step::Variable, 0, 0, number, Variables(1) << number}); }
  Register binary(Step step, Register a, Register b);
  Register withConstant(Step step, Register a, int64_t b) { return binary(step, a, constant(b)); }
  Register ceilDiv(Register a, Register b) {
    return binary(Step::FloorDiv, withConstant(Step::Sub, binary(Step::Add, a, b), 1), b);
  }

  std::optional<int64_t> constantOf(Register value) const;
  bool isNonNegative(Register value) const;
  bool isMultipleOf(Register value, int64_t divisor) const;
  Variables variablesOf(Register value) const { return code[value].variables; }
  /// What a linear value is multiplied with when the variable grows by 1; none if it is not linear in it.
  std::optional<int64_t> slopeOf(Register value, unsigned variable) const;
  /// The value where the variable is 0.
  Register atZero(Register value, unsigned variable);

  llvm::ArrayRef<Instruction> instructions() const { return code; }

private:
  Register emit(Instruction instruction);

  std::vector<Instruction> code;
  std::map<std::tuple<Step, Register, Register, int64_t>, Register> known;
};

/// The result of an instruction that is neither an input nor a variable.
int64_t apply(Step step, int64_t a, int64_t b);

} // namespace attune::cost

#endif // ATTUNE_LIB_COST_COUNTS_SIZEPROGRAM_H
