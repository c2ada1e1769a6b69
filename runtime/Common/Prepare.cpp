//===- Prepare.cpp - Copies the parameters and allocates scratch ----------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handle.h"

#include <cstdlib>
#include <cstring>

using namespace attune::rt;

namespace {

constexpr size_t parameterAlignment = 64;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t bytesOf(const SlotView &view, const attune_rt_tensor &tensor) {
  return static_cast<size_t>(view.elements()) * static_cast<size_t>(elementBytes(tensor.dtype));
}

/// Copies a tensor of any strides to row-major order.
void copyRows(char *to, const SlotView &from, int64_t bytes, uint32_t dim, int64_t offset, size_t &written) {
  if (dim == from.rank) {
    memcpy(to + written, from.data() + offset * bytes, static_cast<size_t>(bytes));
    written += static_cast<size_t>(bytes);
    return;
  }
  for (int64_t i = 0; i < from.size(dim); ++i)
    copyRows(to, from, bytes, dim + 1, offset + i * from.stride(dim), written);
}

/// Replaces the address and strides of a slot view by those of a row-major copy.
void adopt(SlotView view, char *data) {
  view.slots[0] = reinterpret_cast<uint64_t>(data);
  uint64_t stride = 1;
  for (uint32_t dim = view.rank; dim-- > 0; stride *= static_cast<uint64_t>(view.size(dim)))
    view.slots[1 + view.rank + dim] = stride;
}

/// Checks every parameter into `arguments`; `total` becomes the bytes of all copies.
attune_status checkParameters(const attune_rt_handle &handle, const Place &place, const attune_rt_tensors *given,
                              Arguments &arguments, size_t &total) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  size_t room = given && given->size >= sizeof(size_t) ? (given->size - sizeof(size_t)) / sizeof(void *) : 0;
  startBinding(descriptor, arguments);
  total = 0;
  size_t position = 0;
  TensorChecks checks{place, handle.device};
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    arguments.firstSlot[i] = arguments.slotCount;
    if (tensor.role != ATTUNE_RT_PARAMETER)
      continue;
    if (!onCpu(handle))
      return fail(ATTUNE_ERROR_UNSUPPORTED, "%s_%s: parameter '%s': parameters on a GPU are not supported yet",
                  place.library, place.function, tensor.name);
    const DLTensor *source = position < room ? given->tensor[position] : nullptr;
    ++position;
    if (attune_status status = checkTensor(checks, tensor, source, arguments, arguments.slots + arguments.slotCount))
      return status;
    arguments.slotCount += 1 + 2 * static_cast<int>(tensor.rank);
    total += roundUp(bytesOf(view(arguments, descriptor, i), tensor), parameterAlignment);
  }
  return ATTUNE_OK;
}

attune_status copyParameters(attune_rt_handle &handle, const Place &place, const attune_rt_tensors *given) {
  Arguments arguments;
  size_t total;
  if (attune_status status = checkParameters(handle, place, given, arguments, total))
    return status;
  char *block = nullptr;
  if (total) {
    block = static_cast<char *>(aligned_alloc(parameterAlignment, total));
    if (!block)
      return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected %zu bytes for copies of the parameters, but they are not there",
                  place.library, place.function, total);
  }
  size_t offset = 0;
  for (uint32_t i = 0; i < handle.descriptor->tensor_count; ++i) {
    const attune_rt_tensor &tensor = handle.descriptor->tensors[i];
    if (tensor.role != ATTUNE_RT_PARAMETER)
      continue;
    SlotView source = view(arguments, *handle.descriptor, i);
    size_t written = 0;
    copyRows(block + offset, source, elementBytes(tensor.dtype), 0, 0, written);
    adopt(source, block + offset);
    offset += roundUp(written, parameterAlignment);
  }
  free(handle.parameters);
  handle.parameters = block;
  handle.parameterArguments = arguments;
  return ATTUNE_OK;
}

attune_status allocateScratch(attune_rt_handle &handle, const Place &place) {
  size_t largest = 0;
  for (uint32_t i = 0; i < handle.variant->plan_count; ++i)
    if (static_cast<size_t>(handle.variant->plans[i].scratch_bytes) > largest)
      largest = static_cast<size_t>(handle.variant->plans[i].scratch_bytes);
  if (handle.scratch || largest == 0 || !onCpu(handle))
    return ATTUNE_OK;
  // Whole pages: no two threads share a line, and each touches its own first.
  handle.scratchStride = roundUp(largest, pageBytes);
  size_t bytes = handle.scratchStride * static_cast<size_t>(handle.threads);
  handle.scratch = static_cast<char *>(aligned_alloc(pageBytes, bytes));
  if (handle.scratch)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_MEMORY,
              "%s_%s: expected %zu bytes of scratch for %d threads, but they are not there; ask for "
              "fewer threads",
              place.library, place.function, bytes, handle.threads);
}

} // namespace

attune_status attune_rt_prepare(attune_rt_handle *handle, const attune_rt_tensors *parameters) {
  if (attune_status status = enterHandle(handle, "prepare"))
    return status;
  Place place = placeOf(*handle, "prepare");
  HandleLock lock(*handle, place);
  if (lock.status)
    return lock.status;
  if (attune_status status = copyParameters(*handle, place, parameters))
    return status;
  if (attune_status status = allocateScratch(*handle, place))
    return status;
  handle->prepared = true;
  return ATTUNE_OK;
}
