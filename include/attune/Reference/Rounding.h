//===- Rounding.h - The two ways of computing ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_ROUNDING_H
#define ATTUNE_REFERENCE_ROUNDING_H

#include "mlir/IR/Types.h"

namespace attune::reference {

/// Everything is computed in f64. `Ideal` keeps it so: a cast is the identity, and what comes out is the function
/// itself. `Faithful` rounds every value to its element type, to nearest even: what comes out is the function as those
/// types can hold it.
enum class Precision { Ideal, Faithful };

/// `value` rounded to f32, f16 or bf16 (to nearest, ties to even; beyond the largest, infinity); other types keep it.
double roundTo(double value, mlir::Type element);

/// `value` as a result of type `element` in a mode of computing.
inline double resultOf(double value, mlir::Type element, Precision precision) {
  return precision == Precision::Faithful ? roundTo(value, element) : value;
}

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_ROUNDING_H
