//===- Sketch.h - The tree of TensorSRHTs --------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_LIB_REFERENCE_SKETCH_H
#define ATTUNE_LIB_REFERENCE_SKETCH_H

#include "Matrix.h"

namespace attune::reference {

/// The sketch of one head, as `attn.sketch` defines it. Its parameters have passed `sketchProblem`.
class Sketch {
public:
  Sketch(llvm::ArrayRef<Array> signs, llvm::ArrayRef<Array> indices, int64_t head, int64_t size);

  /// S(scale · x) of `width` entries.
  std::vector<double> operator()(const double *x, int64_t width, double scale) const;
  /// What reaches the `width` entries of x if `cotangent` reaches S(scale · x); where that is 0 x may be anything.
  std::vector<double> pullBack(const double *x, int64_t width, double scale, llvm::ArrayRef<double> cotangent) const;

private:
  /// Random signs, a Hadamard transform, and a choice of its entries.
  struct Transform {
    std::vector<double> signs;
    std::vector<int64_t> indices;
    std::vector<double> operator()(llvm::ArrayRef<double> x) const;
    /// The transpose, of which the first `width` entries count.
    std::vector<double> transposed(llvm::ArrayRef<double> y, int64_t width) const;
  };
  using Level = std::vector<std::vector<double>>;

  /// The outputs of the leaves, then of each level of nodes, without the scale; and what the two sides of each node are.
  std::vector<Level> levelsOf(const double *x, int64_t width, std::vector<std::vector<double>> *sides) const;

  std::vector<Transform> transforms; ///< leaves, then sides a and b of node after node
  int64_t size;
};

} // namespace attune::reference

#endif // ATTUNE_LIB_REFERENCE_SKETCH_H
