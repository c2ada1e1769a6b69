//===- MatrixSums.h - How matrix units add, at their worst ------*- C++ -*-===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix unit adds a group of products to a sum at once. Products are exact; with e the largest exponent among the
// sum and the products of the group, where a product's exponent is that of its one operand plus that of the other, each
// of them is cut off, towards zero, at 2^(e - bits). These are added exactly, and the result is cut off at the
// precision of f32, or rounded to f16. The next group continues from there. docs/Rationale/Emulator.md has the sources.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_EMULATOR_MATRIXSUMS_H
#define ATTUNE_EMULATOR_MATRIXSUMS_H

#include <cstddef>

namespace attune::emulator {

struct MatrixSums {
  unsigned group;    ///< products that are aligned together
  int bits;          ///< of each term below the largest exponent
  int leastExponent; ///< of an operand; subnormal numbers have it too
  bool halfSums;     ///< sums are f16

  enum class Operand { Half, Bfloat, Tf32 };
  static MatrixSums of(unsigned capability, Operand operand, bool halfSums);

  /// sums[row][j] += Σ_k a[row][k] b[k][j], of 16 rows and 8 columns j. Neighbouring rows of `b` and of `sums` are so
  /// many numbers apart.
  void add(unsigned depth, const float (&a)[16][16], const float *b, size_t pitchOfB, float *sums,
           size_t pitchOfSums) const;
};

} // namespace attune::emulator

#endif // ATTUNE_EMULATOR_MATRIXSUMS_H
