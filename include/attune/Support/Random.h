//===- Random.h - Counter-based random numbers ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_RANDOM_H
#define ATTUNE_SUPPORT_RANDOM_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <vector>

namespace attune {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011): 128 random bits
/// that depend on the counter and the key alone.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The z with P(standard normal < z) = p, 0 < p < 1, to about 1e-15 (Wichura, algorithm AS 241, 1988). Made of
/// correctly rounded operations only, so that it gives the same bits everywhere.
double normalQuantile(double p);

/// A sequence of random numbers for one tensor: element i depends on the seed, the tensor's name and i, and on nothing
/// else; not on the other tensors, nor on who asks first.
class RandomTensor {
public:
  /// The key is the seed; the upper half of the counter is the name's 64-bit FNV-1a hash, the lower half counts blocks.
  RandomTensor(uint64_t seed, llvm::StringRef name);

  /// 64 random bits; two elements share one block.
  uint64_t bits(uint64_t index) const;
  /// In (0, 1), never an end.
  double uniform(uint64_t index) const;
  /// Mean 0, variance 1.
  double normal(uint64_t index) const { return normalQuantile(uniform(index)); }
  /// An integer from 0 to `bound` - 1; `bound` > 0. The bias is below bound / 2^64.
  uint64_t below(uint64_t index, uint64_t bound) const;

private:
  std::array<uint32_t, 2> key;
  uint64_t nameHash;
};

/// `rows` × `width` numbers, row-major. Row r is the direction of g_r times the norm of h_r, where g_r is made orthogonal
/// to the rows before it in its block of `width` rows, and g and h are standard normals: elements first + r · width + c
/// and first + (rows + r) · width + c of `random`. In each block the directions are the columns of Q of a Gaussian matrix
/// Q·R whose R has a positive diagonal, so they are uniformly distributed (Mezzadri: How to Generate Random Matrices from
/// the Classical Compact Groups; 2007). The same bits everywhere.
std::vector<double> drawOrthogonal(const RandomTensor &random, uint64_t first, int64_t rows, int64_t width);

} // namespace attune

#endif // ATTUNE_SUPPORT_RANDOM_H
