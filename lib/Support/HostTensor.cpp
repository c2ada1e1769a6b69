//===- HostTensor.cpp - A dense tensor in host memory --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "attune/Support/HostTensor.h"

#include "attune/Support/MachineMemory.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

namespace attune {

llvm::Error tensorError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::optional<int64_t> byteCount(ElementType type, llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t most = int64_t(1) << 62;
  int64_t count = bytesOf(type);
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    // Sizes beside a zero are bounded too: they would overflow in whoever multiplies them later.
    int64_t factor = size == 0 ? 1 : size;
    if (count > most / factor)
      return std::nullopt;
    count *= factor;
  }
  return empty ? 0 : count;
}

HostTensor HostTensor::zeros(ElementType type, llvm::ArrayRef<int64_t> shape) {
  HostTensor result;
  result.type = type;
  result.shape.assign(shape.begin(), shape.end());
  result.bytes.resize(byteCount(type, shape).value_or(0));
  return result;
}

llvm::Expected<HostTensor> HostTensor::allocate(ElementType type, llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> bytes = byteCount(type, shape);
  if (bytes && *bytes <= machineMemory())
    return zeros(type, shape);
  return tensorError("expected a tensor that fits this machine's memory of " + llvm::Twine(machineMemory()) +
                     " bytes, but got shape " + showShape(shape) + " of " + nameOf(type));
}

std::string showShape(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

/// Calls `visit` with a null pointer of the C++ type that stores `type`; f16 and bf16 are stored in uint16_t.
template <typename Visit> static void withStorage(ElementType type, Visit visit) {
  switch (type) {
  case ElementType::F32:
    return visit(static_cast<float *>(nullptr));
  case ElementType::F64:
    return visit(static_cast<double *>(nullptr));
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::U16:
    return visit(static_cast<uint16_t *>(nullptr));
  case ElementType::I8:
    return visit(static_cast<int8_t *>(nullptr));
  case ElementType::I16:
    return visit(static_cast<int16_t *>(nullptr));
  case ElementType::I32:
    return visit(static_cast<int32_t *>(nullptr));
  case ElementType::I64:
    return visit(static_cast<int64_t *>(nullptr));
  case ElementType::Bool:
  case ElementType::U8:
    return visit(static_cast<uint8_t *>(nullptr));
  case ElementType::U32:
    return visit(static_cast<uint32_t *>(nullptr));
  case ElementType::U64:
    return visit(static_cast<uint64_t *>(nullptr));
  }
}

std::vector<double> toDoubles(const HostTensor &tensor) {
  std::vector<double> result(tensor.count());
  withStorage(tensor.type, [&](auto *storage) {
    using T = std::remove_pointer_t<decltype(storage)>;
    const T *from = tensor.data<T>();
    for (size_t i = 0; i < result.size(); ++i) {
      if (tensor.type == ElementType::F16)
        result[i] = widenF16(static_cast<uint16_t>(from[i]));
      else if (tensor.type == ElementType::BF16)
        result[i] = widenBF16(static_cast<uint16_t>(from[i]));
      else
        result[i] = static_cast<double>(from[i]);
    }
  });
  return result;
}

static HostTensor convertFloats(const HostTensor &tensor, ElementType type) {
  HostTensor result = HostTensor::zeros(type, tensor.shape);
  std::vector<double> values = toDoubles(tensor);
  for (size_t i = 0; i < values.size(); ++i) {
    // One rounding to f32 first: 16-bit specs take f32 files, so an f64 file means its f32 rounding.
    float single = static_cast<float>(values[i]);
    if (type == ElementType::F64)
      result.data<double>()[i] = values[i];
    else if (type == ElementType::F32)
      result.data<float>()[i] = single;
    else
      result.data<uint16_t>()[i] = type == ElementType::F16 ? roundToF16(single) : roundToBF16(single);
  }
  return result;
}

/// Whether `value` of type From is a value of type To.
template <typename To, typename From> static bool fits(From value) {
  To narrowed = static_cast<To>(value);
  return static_cast<From>(narrowed) == value && (narrowed < To(0)) == (value < From(0));
}

static llvm::Expected<HostTensor> convertIntegers(const HostTensor &tensor, ElementType type) {
  HostTensor result = HostTensor::zeros(type, tensor.shape);
  std::string bad;
  withStorage(tensor.type, [&](auto *fromStorage) {
    using From = std::remove_pointer_t<decltype(fromStorage)>;
    withStorage(type, [&](auto *toStorage) {
      using To = std::remove_pointer_t<decltype(toStorage)>;
      if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
        for (int64_t i = 0, e = tensor.count(); i < e && bad.empty(); ++i) {
          From value = tensor.data<From>()[i];
          if (!fits<To>(value))
            bad = std::to_string(value);
          result.data<To>()[i] = static_cast<To>(value);
        }
    });
  });
  if (!bad.empty())
    return tensorError("expected values that fit " + nameOf(type) + ", but got " + bad);
  return result;
}

llvm::Expected<HostTensor> convertTensor(const HostTensor &tensor, ElementType type) {
  if (tensor.type == type)
    return tensor;
  bool asked = isFloat(type), given = isFloat(tensor.type);
  if (asked != given || tensor.type == ElementType::Bool || type == ElementType::Bool)
    return tensorError("expected " + nameOf(type) + ", but got " + nameOf(tensor.type));
  return given ? llvm::Expected<HostTensor>(convertFloats(tensor, type)) : convertIntegers(tensor, type);
}

} // namespace attune
