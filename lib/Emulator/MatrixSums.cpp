//===- MatrixSums.cpp - How matrix units add, at their worst --------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MatrixSums.h"

#include "Numbers.h"

#include <algorithm>

using namespace attune::emulator;

MatrixSums MatrixSums::of(unsigned capability, Operand operand, bool halfSums) {
  bool hopper = capability >= 90, tf32 = operand == Operand::Tf32;
  unsigned group = (hopper ? 16 : 8) / (tf32 ? 2 : 1);
  return {group, hopper ? 25 : 24, operand == Operand::Half ? -14 : -126, halfSums};
}

namespace {
/// Far below and far above all exponents; so are their sums with an exponent, and with one another.
constexpr int ofZero = -10000, ofNonfinite = 100000;

/// Eight columns at a time, which the compiler makes vectors of.
constexpr unsigned columns = 8;

struct Exponents {
  int a[16][16], b[16][columns];
};
} // namespace

static int exponentOf(float value, int least) {
  uint32_t magnitude = floatToBits(value) & 0x7fffffff;
  int exponent = std::max(int(magnitude >> 23) - 127, least);
  return magnitude == 0 ? ofZero : magnitude >= 0x7f800000 ? ofNonfinite : exponent;
}

/// 2^exponent as a double, where it has one.
static double powerOfTwo(int exponent) { return std::bit_cast<double>(uint64_t(1023 + exponent) << 52); }

namespace {
/// One group of one row.
struct Group {
  unsigned from, to;
  const float *a, *b; ///< [k], [k][pitch]
  size_t pitch;
  const int *exponentsOfA, *exponentsOfB; ///< [k], [k][columns]

  template <unsigned width> void largest(int (&most)[width]) const {
    for (unsigned k = from; k < to; ++k)
      for (unsigned j = 0; j < width; ++j)
        most[j] = std::max(most[j], exponentsOfA[k] + exponentsOfB[k * columns + j]);
  }

  /// In units of 1 / scale. A term has less than 2^(bits + 2) of them, so that their sum is exact.
  template <unsigned width> void addTerms(const double (&scale)[width], double (&total)[width]) const {
    for (unsigned k = from; k < to; ++k)
      for (unsigned j = 0; j < width; ++j)
        total[j] += int32_t(double(a[k]) * b[k * pitch + j] * scale[j]);
  }

  Group column(unsigned j) const { return {from, to, a, b + j, pitch, exponentsOfA, exponentsOfB + j}; }

  /// The sum of a column where something is not finite.
  float addPlainly(float sum) const {
    double total = sum;
    for (unsigned k = from; k < to; ++k)
      total += double(a[k]) * b[k * pitch];
    return cutOff(total);
  }
};
} // namespace

/// To nearest: what the cut takes away is kept as a last bit that is set, so that no tie comes of it.
static float roundedToHalf(double value) {
  float cut = cutOff(value);
  return halfToFloat(floatToHalf(bitsToFloat(floatToBits(cut) | (double(cut) != value))));
}

template <unsigned width> static void addGroup(const MatrixSums &rule, const Group &group, float *sums) {
  int most[width];
  for (unsigned j = 0; j < width; ++j)
    most[j] = exponentOf(sums[j], rule.halfSums ? -14 : -126);
  group.largest(most);
  if (*std::max_element(most, most + width) > ofNonfinite / 2) {
    if constexpr (width == 1)
      *sums = group.addPlainly(*sums);
    else
      for (unsigned j = 0; j < width; ++j)
        addGroup<1>(rule, group.column(j), sums + j);
    return;
  }
  double scale[width], total[width];
  for (unsigned j = 0; j < width; ++j) {
    scale[j] = powerOfTwo(rule.bits - std::max(most[j], -300));
    total[j] = int32_t(sums[j] * scale[j]);
  }
  group.addTerms(scale, total);
  for (unsigned j = 0; j < width; ++j)
    sums[j] = rule.halfSums ? roundedToHalf(total[j] / scale[j]) : cutOff(total[j] / scale[j]);
}

void MatrixSums::add(unsigned depth, const float (&a)[16][16], const float *b, size_t pitchOfB, float *sums,
                     size_t pitchOfSums) const {
  Exponents exponents;
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned row = 0; row < 16; ++row)
      exponents.a[row][k] = exponentOf(a[row][k], leastExponent);
    for (unsigned j = 0; j < columns; ++j)
      exponents.b[k][j] = exponentOf(b[k * pitchOfB + j], leastExponent);
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned from = 0; from < depth; from += group)
      addGroup<columns>(*this,
                        {from, std::min(depth, from + group), a[row], b, pitchOfB, exponents.a[row], *exponents.b},
                        sums + row * pitchOfSums);
}
