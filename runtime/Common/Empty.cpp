//===- Empty.cpp - Runs in which a size is 0 ------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Empty.h"

#include <cstring>

using namespace attune::rt;

namespace {

/// The bits of the value in an element of the dtype.
uint32_t emptyBits(const attune_rt_tensor &tensor) {
  if (tensor.empty != ATTUNE_RT_EMPTY_MINUS_INFINITY)
    return 0;
  switch (tensor.dtype) {
  case ATTUNE_RT_F32:
    return 0xff800000u;
  case ATTUNE_RT_F16:
    return 0xfc00u;
  case ATTUNE_RT_BF16:
    return 0xff80u;
  default:
    return 0;
  }
}

void fill(const SlotView &view, int64_t bytes, uint32_t bits, uint32_t dim, int64_t offset) {
  if (dim == view.rank) {
    memcpy(view.data() + offset * bytes, &bits, static_cast<size_t>(bytes)); // little-endian: the low bytes
    return;
  }
  for (int64_t i = 0; i < view.size(dim); ++i)
    fill(view, bytes, bits, dim + 1, offset + i * view.stride(dim));
}

} // namespace

bool attune::rt::nothingToCompute(const attune_rt_descriptor &descriptor, const Arguments &arguments) {
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    SlotView tensor = view(arguments, descriptor, i);
    if (isOutput(descriptor.tensors[i]) && tensor.present() && !tensor.empty())
      return false;
  }
  return true;
}

bool attune::rt::fillWithoutKeys(const attune_rt_descriptor &descriptor, const Arguments &arguments) {
  if (arguments.binding.keys() != 0)
    return false;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    bool left = tensor.role == ATTUNE_RT_OPTIONAL_INPUT ||
                (isOutput(tensor) && tensor.empty == ATTUNE_RT_EMPTY_COMPUTED);
    if (left && view(arguments, descriptor, i).present())
      return false;
  }
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    SlotView output = view(arguments, descriptor, i);
    if (isOutput(tensor) && output.present())
      fill(output, elementBytes(tensor.dtype), emptyBits(tensor), 0, 0);
  }
  return true;
}
