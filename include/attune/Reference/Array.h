//===- Array.h - A strided array of f64 in host memory -------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_REFERENCE_ARRAY_H
#define ATTUNE_REFERENCE_ARRAY_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace attune::reference {

/// A view of a buffer, as NumPy has it: sizes, and for each dimension the elements from one index to the next. Elements
/// are f64 whatever the type they stand for, which f32, f16, bf16 and i32 fit into exactly. Copies share the buffer.
class Array {
public:
  Array() = default;
  /// Row-major, every element `fill`. The sizes must have passed `elementCount`.
  explicit Array(llvm::ArrayRef<int64_t> shape, double fill = 0);

  /// A view of `buffer`; nullopt unless every element lies inside.
  static std::optional<Array> view(std::shared_ptr<std::vector<double>> buffer, int64_t offset,
                                   llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

  /// The same elements with each group of dimensions as one; nullopt if those of a group leave gaps.
  std::optional<Array> collapsed(llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> groups) const;

  /// [b, H, n, d] as [b, G, n · H / G, d]: heads as rows. Nullopt for other shapes, and if n tokens of the heads leave gaps.
  std::optional<Array> withHeadsAsRows(int64_t groups) const;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t size(int64_t dimension) const { return sizes[dimension]; }
  int64_t stride(int64_t dimension) const { return steps[dimension]; }
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  int64_t count() const;

  /// The place of an element in the buffer. The indices must be inside.
  int64_t place(llvm::ArrayRef<int64_t> indices) const;
  double *at(llvm::ArrayRef<int64_t> indices) const { return buffer->data() + place(indices); }
  double &operator()(llvm::ArrayRef<int64_t> indices) const { return *at(indices); }
  double &element(int64_t place) const { return (*buffer)[place]; }
  /// The same for all views of one buffer.
  const void *identity() const { return buffer.get(); }
  int64_t bufferCount() const { return buffer ? static_cast<int64_t>(buffer->size()) : 0; }

  /// The elements in row-major order.
  std::vector<double> elements() const;

private:
  std::shared_ptr<std::vector<double>> buffer;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> sizes, steps;
};

/// The product of sizes; nullopt if one is negative or the product is beyond 2^40, which no host memory holds.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// `shape` with `values` in row-major order, each rounded to `element` unless that is null: how inputs enter.
Array makeArray(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values, mlir::Type element = {});

} // namespace attune::reference

#endif // ATTUNE_REFERENCE_ARRAY_H
