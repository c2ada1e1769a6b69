//===- Values.cpp - Checks of what elements of tensors are ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include <cstdio>
#include <cstring>

using namespace attune::rt;

namespace {

/// "[0, 3]": where an element of a row-major tensor lies.
struct PositionText {
  char text[ATTUNE_RT_MAX_RANK * 22 + 2];
};

PositionText positionOf(const SlotView &view, int64_t element) {
  int64_t index[ATTUNE_RT_MAX_RANK];
  for (uint32_t dim = view.rank; dim-- > 0; element /= view.size(dim))
    index[dim] = element % view.size(dim);
  PositionText result;
  size_t length = 0;
  for (uint32_t dim = 0; dim < view.rank; ++dim)
    length += static_cast<size_t>(snprintf(result.text + length, sizeof(result.text) - length, "%s%lld",
                                           dim ? ", " : "[", static_cast<long long>(index[dim])));
  snprintf(result.text + length, sizeof(result.text) - length, view.rank ? "]" : "[]");
  return result;
}

template <typename T> T elementAt(const SlotView &view, int64_t element) {
  T value;
  memcpy(&value, view.data() + element * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

float fromHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) {
    float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return fromBits(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

float valueAt(const SlotView &view, uint32_t dtype, int64_t element) {
  switch (dtype) {
  case ATTUNE_RT_F32:
    return elementAt<float>(view, element);
  case ATTUNE_RT_F16:
    return fromHalf(elementAt<uint16_t>(view, element));
  case ATTUNE_RT_BF16:
    return fromBits(static_cast<uint32_t>(elementAt<uint16_t>(view, element)) << 16);
  default:
    return static_cast<float>(elementAt<int32_t>(view, element));
  }
}

attune_status checkSigns(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t elements) {
  for (int64_t element = 0; element < elements; ++element) {
    float value = valueAt(view, tensor.dtype, element);
    if (value != 1.0f && value != -1.0f)
      return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument '%s': expected -1 or 1 in every element, but got %g at %s",
                  place.library, place.function, tensor.name, static_cast<double>(value),
                  positionOf(view, element).text);
  }
  return ATTUNE_OK;
}

attune_status checkIndices(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t elements) {
  for (int64_t element = 0; element < elements; ++element) {
    int32_t index = elementAt<int32_t>(view, element);
    if (index < 0 || index >= tensor.bound)
      return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument '%s': expected indices in 0 ... %lld, but got %d at %s",
                  place.library, place.function, tensor.name, static_cast<long long>(tensor.bound) - 1, index,
                  positionOf(view, element).text);
  }
  return ATTUNE_OK;
}

} // namespace

attune_status attune::rt::checkKeyLengths(const Place &place, const attune_rt_tensor &tensor, const SlotView &view,
                                          int64_t keys) {
  for (int64_t entry = 0; entry < view.size(0); ++entry) {
    int32_t length = elementAt<int32_t>(view, entry * view.stride(0));
    if (length < 0 || length > keys)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected lengths in 0 ... %lld (the number of keys), but "
                  "got %d at entry %lld",
                  place.library, place.function, tensor.name, static_cast<long long>(keys), length,
                  static_cast<long long>(entry));
  }
  return ATTUNE_OK;
}

attune_status attune::rt::checkOffsets(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t tokens) {
  int64_t last = view.size(0) - 1, before = 0;
  for (int64_t entry = 0; entry <= last; ++entry) {
    int64_t offset = elementAt<int32_t>(view, entry * view.stride(0));
    bool wrong = offset < before || (entry == 0 && offset != 0) || (entry == last && offset != tokens);
    if (wrong)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected offsets from 0 to %lld (the number of tokens) that do not fall, but got %lld at entry "
                  "%lld, after %lld; sequence s has the tokens from offset s to the next one",
                  place.library, place.function, tensor.name, static_cast<long long>(tokens), static_cast<long long>(offset),
                  static_cast<long long>(entry), static_cast<long long>(before));
    before = offset;
  }
  return ATTUNE_OK;
}

namespace {

/// The tokens of sequence s.
int64_t lengthAt(const SlotView &offsets, int64_t s) {
  int64_t step = offsets.stride(0);
  return int64_t{elementAt<int32_t>(offsets, (s + 1) * step)} - elementAt<int32_t>(offsets, s * step);
}

} // namespace

attune_status attune::rt::checkSameOffsets(const Place &place, const attune_rt_tensor &tensor, const SlotView &view,
                                           const SlotView &queries) {
  for (int64_t entry = 0; entry < view.size(0); ++entry) {
    int32_t offset = elementAt<int32_t>(view, entry * view.stride(0)), expected = elementAt<int32_t>(queries, entry * queries.stride(0));
    if (offset != expected)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected the offsets of the queries, %d at entry %lld, but got %d; this mechanism works over one "
                  "sequence",
                  place.library, place.function, tensor.name, expected, static_cast<long long>(entry), offset);
  }
  return ATTUNE_OK;
}

attune_status attune::rt::checkLongest(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t most) {
  for (int64_t s = 0; s + 1 < view.size(0); ++s)
    if (int64_t length = lengthAt(view, s); length > most)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected sequences of at most %lld tokens, but got %lld in sequence %lld; this mechanism was "
                  "compiled for that",
                  place.library, place.function, tensor.name, static_cast<long long>(most), static_cast<long long>(length),
                  static_cast<long long>(s));
  return ATTUNE_OK;
}

attune_status attune::rt::checkPositions(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t tokens,
                                         const SlotView *offsets) {
  for (int64_t entry = 0; entry < view.size(0); ++entry) {
    int32_t position = elementAt<int32_t>(view, entry * view.stride(0));
    if (offsets)
      tokens = lengthAt(*offsets, entry);
    if (position < 0 || (tokens > 0 && position > tensor.bound - tokens))
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected positions in 0 ... %lld (with the %lld tokens of this run at most %lld), but got %d "
                  "at entry %lld; start a new sequence, or compile for a larger max_position",
                  place.library, place.function, tensor.name, static_cast<long long>(tensor.bound - tokens),
                  static_cast<long long>(tokens), static_cast<long long>(tensor.bound), position, static_cast<long long>(entry));
  }
  return ATTUNE_OK;
}

attune_status attune::rt::checkParameterValues(const Place &place, const attune_rt_tensor &tensor,
                                               const SlotView &view, int64_t elements) {
  if (tensor.flags & ATTUNE_RT_SIGNS)
    if (attune_status status = checkSigns(place, tensor, view, elements))
      return status;
  return tensor.flags & ATTUNE_RT_INDICES ? checkIndices(place, tensor, view, elements) : ATTUNE_OK;
}
