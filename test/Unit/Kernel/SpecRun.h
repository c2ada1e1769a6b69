//===- SpecRun.h - A spec through both interpreters ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spec's text becomes attn ops, which the interpreter of attn runs as they are; and forms, kernels and a host
// function, which the interpreter of tile runs in its ideal mode. Both are float64 on the same inputs, so that what is
// left between them is rounding of float64: a kernel that computes another function, even in one element, is far off.
// In the faithful mode the kernels then meet what users are promised of f32, f16 and bf16, ranges included.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TEST_UNIT_KERNEL_SPECRUN_H
#define ATTUNE_TEST_UNIT_KERNEL_SPECRUN_H

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace attune::test {

/// n and N.
struct Sizes {
  int64_t queries, keys;
};

/// Equal lengths.
std::vector<Sizes> square(std::initializer_list<int64_t> lengths);

/// Which tiles the kernels are cut into: what the cost model chooses for the spec, or 8 × 8 and pieces of 16 keys, so
/// that short sequences have several of everything.
enum class Tiles { Chosen, Small, Both };

struct SpecCase {
  /// Of the spec, without attention, dtype (unless it is there), batch, queries and keys; in YAML's flow style.
  std::string fields;
  std::vector<Sizes> sizes;
  std::vector<std::string> forms = {""}; ///< pins of `linearize`; "": the cheapest
  /// Relative Frobenius error. Kernels add in another order than the definition and are otherwise exact.
  double tolerance = 1e-12;
  double magnitude = 1; ///< of q and k, or x and context
  Tiles tiles = Tiles::Both;
  int64_t batch = 2; ///< 3 where keys can be missing: none, some and all of them
  std::string fold = "";  ///< pin of `fold`; "": the cheapest
  bool finite = false; ///< beyond the range that users are promised: kernels' outputs in their types are finite
};

class Specs : public ::testing::Test {
protected:
  Specs();
  /// Runs the case at each of its sizes, twice: the sizes being known when compiling, and not.
  void check(const SpecCase &c);
  /// Of the first of its sizes and forms: gives each loop that can be cut every carry that is not its own, and expects that
  /// cutting it shows, where it is run in several pieces.
  void checkCarries(const SpecCase &c);

private:
  void checkAt(const SpecCase &c, Sizes sizes, const std::string &form);
  void checkOpen(const SpecCase &c, const std::string &form);

  mlir::MLIRContext context;
};

} // namespace attune::test

#endif // ATTUNE_TEST_UNIT_KERNEL_SPECRUN_H
