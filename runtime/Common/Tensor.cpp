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

/// One tensor under check, with the place that messages begin with.
struct Subject {
  const TensorChecks &checks;
  const attune_rt_tensor &expected;
  const DLTensor &tensor;
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
  int64_t have = s.tensor.shape[dim];
  if (binding.sizes[symbol] < 0) {
    binding.sizes[symbol] = have;
    binding.boundBy[symbol] = &s.expected;
    return ATTUNE_OK;
  }
  if (binding.sizes[symbol] == have)
    return ATTUNE_OK;
  bool fromPrepare = binding.boundBy[symbol] && isParameter(*binding.boundBy[symbol]) && isGiven(s.expected);
  return fail(ATTUNE_ERROR_ARGUMENT, AT "expected size %lld (%s) in dimension %u, but got %lld%s", AT_ARGUMENTS(s),
              static_cast<long long>(binding.sizes[symbol]), describeBound(binding, symbol).text, dim,
              static_cast<long long>(have), fromPrepare ? "; prepare again with parameters of that size" : "");
}

attune_status checkSizes(const Subject &s, Binding &binding) {
  for (uint32_t dim = 0; dim < s.expected.rank; ++dim) {
    int64_t want = s.expected.dims[dim], have = s.tensor.shape[dim];
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

void rowMajorStrides(const DLTensor &tensor, int64_t *strides) {
  // Unsigned: of a tensor with an empty dimension the product of the others may pass 2^63, and is never used.
  uint64_t stride = 1;
  for (int32_t dim = tensor.ndim - 1; dim >= 0; --dim) {
    strides[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(tensor.shape[dim]);
  }
}

/// The farthest element must be addressable: kernels then compute offsets without overflow.
bool extentFits(const DLTensor &tensor, const int64_t *strides, int64_t bytes) {
  int64_t extent = 0, reach;
  for (int32_t dim = 0; dim < tensor.ndim; ++dim) {
    if (tensor.shape[dim] <= 1)
      continue;
    int64_t stride = strides[dim];
    if (stride == INT64_MIN || __builtin_mul_overflow(tensor.shape[dim] - 1, stride < 0 ? -stride : stride, &reach) ||
        __builtin_add_overflow(extent, reach, &extent))
      return false;
  }
  return !__builtin_mul_overflow(extent, bytes, &reach) && reach <= (INT64_MAX >> 1);
}

attune_status checkStrides(const Subject &s, const int64_t *strides) {
  uint32_t rank = s.expected.rank;
  bool written = s.expected.role == ATTUNE_RT_OUTPUT || s.expected.role == ATTUNE_RT_OPTIONAL_OUTPUT;
  // A parameter is copied, so a transposed view will do.
  if (rank > 0 && s.tensor.shape[rank - 1] > 1 && strides[rank - 1] != 1 && !isParameter(s.expected))
    return fail(ATTUNE_ERROR_ARGUMENT,
                AT "expected stride 1 in the innermost dimension %u, but got %lld; copy the tensor into rows of "
                   "adjacent elements",
                AT_ARGUMENTS(s), rank - 1, static_cast<long long>(strides[rank - 1]));
  for (uint32_t dim = 0; written && dim < rank; ++dim)
    if (s.tensor.shape[dim] > 1 && strides[dim] == 0)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  AT
                  "expected a stride other than 0 in dimension %u of an output, but got 0; only inputs may repeat rows",
                  AT_ARGUMENTS(s), dim);
  if (!extentFits(s.tensor, strides, elementBytes(s.expected.dtype)))
    return fail(ATTUNE_ERROR_ARGUMENT, AT "expected sizes and strides within the address space, but they reach past it",
                AT_ARGUMENTS(s));
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
    if (s.tensor.shape[dim] == 0)
      return true;
  return false;
}

void writeSlots(const Subject &s, uint64_t address, const int64_t *strides, uint64_t *slots) {
  uint32_t rank = s.expected.rank;
  slots[0] = address;
  for (uint32_t dim = 0; dim < rank; ++dim) {
    slots[1 + dim] = static_cast<uint64_t>(s.tensor.shape[dim]);
    slots[1 + rank + dim] = static_cast<uint64_t>(strides[dim]);
  }
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
  Subject s{checks, expected, *tensor};
  if (attune_status status = checkRank(s))
    return status;
  if (attune_status status = checkType(s))
    return status;
  if (attune_status status = checkDevice(s))
    return status;
  if (attune_status status = checkSizes(s, binding))
    return status;

  int64_t strides[ATTUNE_RT_MAX_RANK];
  rowMajorStrides(*tensor, strides);
  for (uint32_t dim = 0; tensor->strides && dim < expected.rank; ++dim)
    strides[dim] = tensor->strides[dim];
  uint64_t address = reinterpret_cast<uint64_t>(tensor->data) + tensor->byte_offset;
  // Nothing of an empty tensor is touched, and frameworks give it any strides.
  bool empty = isEmpty(s);
  if (!empty)
    if (attune_status status = checkStrides(s, strides))
      return status;
  if (!empty && checks.data)
    if (attune_status status = checkAddress(s, address))
      return status;
  // A plan asks a slot whether the tensor is there; one that comes without data, to ask about sizes, is.
  if (!checks.data && address == 0)
    address = ATTUNE_WORKSPACE_ALIGNMENT;
  writeSlots(s, address, strides, slots);
  return ATTUNE_OK;
}
