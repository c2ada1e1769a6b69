//===- Tensor.cpp - Checks DLPack tensors and turns them into argument slots ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include <cstdio>

using namespace attune::rt;

namespace {

struct DtypeFacts {
  const char *name;
  uint8_t code;
  uint8_t bits;
};

// By attune_rt_dtype.
constexpr DtypeFacts dtypes[] = {
    {"f32", kDLFloat, 32}, {"f16", kDLFloat, 16}, {"bf16", kDLBfloat, 16}, {"i32", kDLInt, 32}};

constexpr const char *symbolNames[] = {"batch", "queries", "keys"};

/// One tensor under check, with the place that messages begin with. Its shape and strides are copies, so that what is
/// written to the slots is what was checked, whatever another thread does to the caller's.
struct Subject {
  const TensorChecks &checks;
  const attune_rt_tensor &expected;
  const DLTensor tensor;
  int64_t shape[ATTUNE_RT_MAX_RANK];
  int64_t strides[ATTUNE_RT_MAX_RANK];
};

#define AT "%s_%s: argument '%s': "
#define AT_ARGUMENTS(s) (s).checks.place.library, (s).checks.place.function, (s).expected.name

struct DtypeText {
  char text[24];
};

/// Codes of DLPack that no tensor of a library has.
constexpr uint8_t opaque = 3, complexNumber = 5, boolean = 6;

DtypeText describe(DLDataType dtype) {
  DtypeText result;
  for (const DtypeFacts &facts : dtypes)
    if (dtype.code == facts.code && dtype.bits == facts.bits && dtype.lanes == 1) {
      snprintf(result.text, sizeof(result.text), "%s", facts.name);
      return result;
    }
  // NumPy's arrays are of f64 unless something else is asked for.
  if (dtype.lanes == 1 && dtype.code <= kDLFloat)
    snprintf(result.text, sizeof(result.text), "%c%d", "iuf"[dtype.code], dtype.bits);
  else if (dtype.lanes == 1 && (dtype.code == complexNumber || dtype.code == boolean))
    snprintf(result.text, sizeof(result.text), "%s", dtype.code == boolean ? "bool" : "complex numbers");
  else if (dtype.lanes == 1 && dtype.code == opaque)
    snprintf(result.text, sizeof(result.text), "another %d-bit type", dtype.bits);
  else
    snprintf(result.text, sizeof(result.text), "{%d, %d, %d}", dtype.code, dtype.bits, dtype.lanes);
  return result;
}

const char *deviceName(int32_t type) {
  switch (type) {
  case kDLCPU:
    return "the CPU";
  case kDLCUDA:
    return "CUDA device";
  case kDLCUDAHost:
    return "CUDA host memory";
  case kDLCUDAManaged:
    return "CUDA managed memory";
  default:
    return "a device of another kind";
  }
}

attune_status checkDevice(const Subject &s) {
  DLDevice want = s.checks.device, have = s.tensor.device;
  int32_t type = static_cast<int32_t>(have.device_type);
  bool managed = type == kDLCUDAManaged;
  bool onCpu = (want.device_type == kDLCPU || s.checks.copied) && (isHostMemory(have) || managed);
  bool onGpu = want.device_type == kDLCUDA && (managed || (type == kDLCUDA && have.device_id == want.device_id));
  if (onCpu || onGpu)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              AT "expected a tensor on %s %d, but got one on %s %d; copy it there or create the handle for that device",
              AT_ARGUMENTS(s), deviceName(want.device_type), want.device_id, deviceName(type), have.device_id);
}

attune_status checkType(const Subject &s) {
  const DtypeFacts &want = dtypes[s.expected.dtype];
  DLDataType have = s.tensor.dtype;
  if (have.code == want.code && have.bits == want.bits && have.lanes == 1)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              AT "expected dtype %s, but got %s; convert the tensor or compile the library for that dtype",
              AT_ARGUMENTS(s), want.name, describe(have).text);
}

attune_status checkRank(const Subject &s) {
  if (s.tensor.ndim != static_cast<int32_t>(s.expected.rank))
    return fail(ATTUNE_ERROR_ARGUMENT,
                AT "expected rank %u, but got rank %d; pass every dimension, sizes of 1 included", AT_ARGUMENTS(s),
                s.expected.rank, s.tensor.ndim);
  if (s.expected.rank > 0 && !s.tensor.shape)
    return fail(ATTUNE_ERROR_ARGUMENT, AT "expected a shape of %u sizes, but got a null shape", AT_ARGUMENTS(s),
                s.expected.rank);
  return ATTUNE_OK;
}

/// "[2, 8, 64]": sizes or strides.
struct ListText {
  char text[ATTUNE_RT_MAX_RANK * 22 + 2];
};

ListText describe(const int64_t *numbers, uint32_t count) {
  ListText result;
  size_t length = 0;
  for (uint32_t i = 0; i < count; ++i)
    length += static_cast<size_t>(snprintf(result.text + length, sizeof(result.text) - length, "%s%lld", i ? ", " : "[",
                                           static_cast<long long>(numbers[i])));
  snprintf(result.text + length, sizeof(result.text) - length, count ? "]" : "[]");
  return result;
}

/// What a message says of the place where a size was seen first.
struct BoundText {
  char text[160];
};

BoundText describeBound(const Binding &binding, int symbol) {
  BoundText result;
  const attune_rt_tensor *by = binding.boundBy[symbol];
  if (!by)
    snprintf(result.text, sizeof(result.text), "%s", symbolNames[symbol]);
  else
    snprintf(result.text, sizeof(result.text), "%s of %s '%.100s'", symbolNames[symbol],
             isParameter(*by) ? "parameter" : "argument", by->name);
  return result;
}

/// A dimension known only at run: the first tensor to show it binds it, the others must agree.
attune_status bindSize(const Subject &s, uint32_t dim, Binding &binding) {
  int symbol = static_cast<int>(-1 - s.expected.dims[dim]);
  bool areOffsets = s.expected.flags & (ATTUNE_RT_OFFSETS | ATTUNE_RT_KEY_OFFSETS);
  int64_t have = s.shape[dim] - areOffsets; // where each sequence begins, and where the last one ends
  if (have < 0)
    return fail(ATTUNE_ERROR_ARGUMENT, AT "expected an offset for each sequence and one more in dimension %u, but got none",
                AT_ARGUMENTS(s), dim);
  if (binding.sizes[symbol] < 0) {
    binding.sizes[symbol] = have;
    binding.boundBy[symbol] = &s.expected;
    return ATTUNE_OK;
  }
  if (binding.sizes[symbol] == have)
    return ATTUNE_OK;
  bool fromPrepare = binding.boundBy[symbol] && isParameter(*binding.boundBy[symbol]) && isGiven(s.expected);
  return fail(ATTUNE_ERROR_ARGUMENT, AT "expected size %lld (%s%s) in dimension %u, but got %lld%s", AT_ARGUMENTS(s),
              static_cast<long long>(binding.sizes[symbol] + areOffsets), describeBound(binding, symbol).text,
              areOffsets ? ", and one more" : "", dim, static_cast<long long>(have + areOffsets), fromPrepare ? "; prepare again with parameters of that size" : "");
}

attune_status checkSizes(const Subject &s, Binding &binding) {
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim) {
    int64_t want = s.expected.dims[dim], have = s.shape[dim];
    if (have < 0)
      return fail(ATTUNE_ERROR_ARGUMENT, AT "expected a size of at least 0 in dimension %u, but got %lld",
                  AT_ARGUMENTS(s), dim, static_cast<long long>(have));
    if (want >= 0 && want != have)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  AT
                  "expected size %lld in dimension %u, but got %lld; this size was fixed when the library was compiled",
                  AT_ARGUMENTS(s), static_cast<long long>(want), dim, static_cast<long long>(have));
    if (want < 0)
      if (attune_status status = bindSize(s, dim, binding))
        return status;
  }
  return ATTUNE_OK;
}

void readShape(Subject &s) {
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim)
    s.shape[dim] = s.tensor.shape[dim];
}

/// The caller's strides or, if there are none, those of rows one after another.
void readStrides(Subject &s) {
  // Unsigned: of a tensor with an empty dimension the product of the others may pass 2^63, and is never used.
  uint64_t stride = 1;
  for (uint32_t dim = s.expected.rank; dim-- > 0;) {
    s.strides[dim] = s.tensor.strides ? s.tensor.strides[dim] : static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(s.shape[dim]);
  }
}

/// All elements together; strides of 0 do not make them fewer, as outputs and workspaces grow with the sizes.
attune_status checkCount(const Subject &s) {
  int64_t bytes = elementBytes(s.expected.dtype);
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim)
    if (__builtin_mul_overflow(bytes, s.shape[dim], &bytes) || bytes > mostBytes)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  AT "expected at most " ATTUNE_RT_MOST_BYTES " of elements, but got sizes %s; split the batch or the "
                     "sequence",
                  AT_ARGUMENTS(s), describe(s.shape, s.expected.rank).text);
  return ATTUNE_OK;
}

/// Bytes from the first element's to the lowest and the highest one that elements begin at; false if they are too many.
bool findReach(const Subject &s, int64_t &low, int64_t &high) {
  low = high = 0;
  int64_t bytes = elementBytes(s.expected.dtype);
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim) {
    int64_t reach;
    if (s.shape[dim] <= 1)
      continue;
    if (__builtin_mul_overflow(s.shape[dim] - 1, s.strides[dim], &reach) || __builtin_mul_overflow(reach, bytes, &reach) ||
        reach > mostBytes || reach < -mostBytes)
      return false;
    (reach < 0 ? low : high) += reach;
  }
  return high - low <= mostBytes - bytes;
}

/// No address of an element wraps around.
attune_status checkReach(const Subject &s) {
  int64_t low, high;
  if (!findReach(s, low, high))
    return fail(ATTUNE_ERROR_ARGUMENT,
                AT "expected elements within " ATTUNE_RT_MOST_BYTES ", but sizes %s with strides %s reach past them",
                AT_ARGUMENTS(s), describe(s.shape, s.expected.rank).text, describe(s.strides, s.expected.rank).text);
  uint64_t address, first, past;
  bool wraps = __builtin_add_overflow(reinterpret_cast<uint64_t>(s.tensor.data), s.tensor.byte_offset, &address) ||
               __builtin_sub_overflow(address, static_cast<uint64_t>(-low), &first) ||
               __builtin_add_overflow(address, static_cast<uint64_t>(high + elementBytes(s.expected.dtype)), &past);
  if (!wraps || !s.checks.data)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_ARGUMENT,
              AT "expected elements within the address space, but data %p with byte_offset %llu, sizes %s and strides %s "
                 "lead past its end",
              AT_ARGUMENTS(s), s.tensor.data, static_cast<unsigned long long>(s.tensor.byte_offset),
              describe(s.shape, s.expected.rank).text, describe(s.strides, s.expected.rank).text);
}

attune_status checkStrides(const Subject &s) {
  uint32_t rank = s.expected.rank;
  bool written = isOutput(s.expected);
  // A parameter is copied, so a transposed view will do.
  if (rank > 0 && s.shape[rank - 1] > 1 && s.strides[rank - 1] != 1 && !isParameter(s.expected))
    return fail(ATTUNE_ERROR_ARGUMENT,
                AT "expected stride 1 in the innermost dimension %u, but got %lld; copy the tensor into rows of "
                   "adjacent elements",
                AT_ARGUMENTS(s), rank - 1, static_cast<long long>(s.strides[rank - 1]));
  for (uint32_t dim = 0; written && dim < rank; ++dim)
    if (s.shape[dim] > 1 && s.strides[dim] == 0)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  AT
                  "expected a stride other than 0 in dimension %u of an output, but got 0; only inputs may repeat rows",
                  AT_ARGUMENTS(s), dim);
  return ATTUNE_OK;
}

attune_status checkAddress(const Subject &s, uint64_t address) {
  if (!s.tensor.data)
    return fail(ATTUNE_ERROR_ARGUMENT, AT "expected data, but got a null data pointer", AT_ARGUMENTS(s));
  int64_t bytes = elementBytes(s.expected.dtype);
  if (uint64_t rest = address % static_cast<uint64_t>(bytes))
    return fail(ATTUNE_ERROR_ARGUMENT,
                AT
                "expected data aligned to its elements of %lld bytes, but got an address %llu bytes past that; check "
                "byte_offset",
                AT_ARGUMENTS(s), static_cast<long long>(bytes), static_cast<unsigned long long>(rest));
  return ATTUNE_OK;
}

attune_status leaveAbsent(const TensorChecks &checks, const attune_rt_tensor &expected, uint64_t *slots) {
  if (expected.role != ATTUNE_RT_OPTIONAL_INPUT && expected.role != ATTUNE_RT_OPTIONAL_OUTPUT)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument '%s': expected a tensor, but got null", checks.place.library,
                checks.place.function, expected.name);
  for (uint32_t slot = 0; slot < slotCount(expected); ++slot)
    slots[slot] = 0;
  return ATTUNE_OK;
}

bool isEmpty(const Subject &s) {
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim)
    if (s.shape[dim] == 0)
      return true;
  return false;
}

void writeSlots(const Subject &s, uint64_t address, uint64_t *slots) {
  uint32_t rank = s.expected.rank;
  slots[0] = address;
  for (uint32_t dim = 0; dim < rank; ++dim) {
    slots[1 + dim] = static_cast<uint64_t>(s.shape[dim]);
    slots[1 + rank + dim] = static_cast<uint64_t>(s.strides[dim]);
  }
}

/// Of a tensor that has elements.
attune_status checkElements(const Subject &s, uint64_t address) {
  if (attune_status status = checkCount(s))
    return status;
  if (attune_status status = checkStrides(s))
    return status;
  if (attune_status status = checkReach(s))
    return status;
  return s.checks.data ? checkAddress(s, address) : ATTUNE_OK;
}

} // namespace

bool attune::rt::isHostMemory(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
}

int64_t attune::rt::elementBytes(uint32_t dtype) { return dtypes[dtype].bits / 8; }

DLDataType attune::rt::toDLDataType(uint32_t dtype) { return {dtypes[dtype].code, dtypes[dtype].bits, 1}; }

bool SlotView::empty() const {
  for (uint32_t dim = 0; dim < rank; ++dim)
    if (size(dim) == 0)
      return true;
  return false;
}

Binding attune::rt::startBinding(const attune_rt_descriptor &descriptor) {
  Binding binding;
  for (int symbol = 0; symbol < ATTUNE_RT_SYMBOL_COUNT; ++symbol) {
    binding.sizes[symbol] = descriptor.sizes[symbol];
    binding.boundBy[symbol] = nullptr;
  }
  return binding;
}

attune_status attune::rt::checkTensor(const TensorChecks &checks, const attune_rt_tensor &expected,
                                      const DLTensor *tensor, Binding &binding, uint64_t *slots) {
  if (!tensor)
    return leaveAbsent(checks, expected, slots);
  Subject s{checks, expected, *tensor, {}, {}};
  if (attune_status status = checkRank(s))
    return status;
  readShape(s);
  if (attune_status status = checkType(s))
    return status;
  if (attune_status status = checkDevice(s))
    return status;
  if (attune_status status = checkSizes(s, binding))
    return status;

  readStrides(s);
  // Nothing of an empty tensor is touched, and frameworks give it any strides and no data.
  bool empty = isEmpty(s);
  uint64_t address = reinterpret_cast<uint64_t>(s.tensor.data) + s.tensor.byte_offset;
  if (attune_status status = empty ? ATTUNE_OK : checkElements(s, address))
    return status;
  // A plan asks a slot whether the tensor is there; one that comes without elements, or to ask about sizes, is.
  writeSlots(s, empty || !checks.data ? ATTUNE_WORKSPACE_ALIGNMENT : address, slots);
  return ATTUNE_OK;
}
