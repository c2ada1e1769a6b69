//===- HostTensor.h - A dense tensor in host memory ----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_HOSTTENSOR_H
#define ATTUNE_SUPPORT_HOSTTENSOR_H

#include "attune/Support/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace attune {

/// Row-major elements, little-endian, without gaps.
struct HostTensor {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<char> bytes;

  /// Zeros. The shape must have passed `byteCount`.
  static HostTensor zeros(ElementType type, llvm::ArrayRef<int64_t> shape);
  /// Zeros of a shape that a user has given: an error unless it is one and this machine's memory can hold it.
  static llvm::Expected<HostTensor> allocate(ElementType type, llvm::ArrayRef<int64_t> shape);

  int64_t count() const { return static_cast<int64_t>(bytes.size() / bytesOf(type)); }
  template <typename T> T *data() { return reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *data() const { return reinterpret_cast<const T *>(bytes.data()); }
};

/// Bytes of a tensor; nullopt for a negative size or one beyond 2^62 bytes.
std::optional<int64_t> byteCount(ElementType type, llvm::ArrayRef<int64_t> shape);

/// `[2, 3]`.
std::string showShape(llvm::ArrayRef<int64_t> shape);

/// The tensor in another type. Floats go to floats (f16 and bf16 through f32, to nearest even), integers to integers
/// that hold every value; anything else is an error `expected …, but got …`.
llvm::Expected<HostTensor> convertTensor(const HostTensor &tensor, ElementType type);

/// The elements as f64, exactly, for any type but i64 and u64 beyond 2^53.
std::vector<double> toDoubles(const HostTensor &tensor);

/// An error whose message is `message`.
llvm::Error tensorError(const llvm::Twine &message);

} // namespace attune

#endif // ATTUNE_SUPPORT_HOSTTENSOR_H
