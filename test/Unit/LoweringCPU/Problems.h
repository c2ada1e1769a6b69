//===- Problems.h - Attention problems and their definition in float64 ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_LOWERINGCPU_PROBLEMS_H
#define ATTUNE_TEST_LOWERINGCPU_PROBLEMS_H

#include "Jit.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attune::test {

/// One attention over random inputs.
struct Problem {
  std::string form = "softmax"; ///< softmax, quadratic, state, chunked
  int64_t batch = 1, heads = 1, sharedHeads = 1, queries = 64, keys = 64, width = 64, valueWidth = 64;
  std::string dtype = "f32";
  bool causal = false, lengths = false, lse = false;
  bool tokensFirst = false; ///< memory is [B, N, H, D]
  int64_t queryTile = 64, keyTile = 64, piece = 128;
  int64_t keyPieces = 1; ///< of softmax: pieces of the keys that run side by side

  bool fixedSizes = false; ///< of softmax with heads = sharedHeads, queries = keys: batch and lengths are in the types

  /// A function `@plan` of the attn dialect.
  std::string source() const;
  double usefulOperations() const;

private:
  std::string sourceOfAnySize() const;
};

/// Storage of a tensor [B, H, rows, columns] between guard pages, and its values as they were rounded.
struct Storage {
  Storage(const Problem &problem, int64_t heads, int64_t rows, int64_t columns, bool atEnd);
  Tensor tensor;
  Guarded memory;
  std::string dtype;
  /// All elements [B, H, rows, columns].
  std::vector<double> values() const;
  double get(int64_t b, int64_t h, int64_t row, int64_t column) const;
  void set(int64_t b, int64_t h, int64_t row, int64_t column, double value);

private:
  int64_t place(int64_t b, int64_t h, int64_t row, int64_t column) const;
};

/// Inputs and outputs of a problem.
struct Data {
  Data(const Problem &problem, unsigned seed, double magnitude = 1, bool atEnd = true);
  const Problem &problem;
  Storage query, key, value, output;
  Guarded lengthMemory, lseMemory;
  std::vector<int64_t> lengths;
  std::vector<Tensor> arguments() const;

  /// Relative Frobenius error of the output (and the lse) against the definition; infinite for a NaN.
  double error() const;
};

} // namespace attune::test

#endif // ATTUNE_TEST_LOWERINGCPU_PROBLEMS_H
