//===- Info.cpp - What a handle says about itself -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registry.h"

#include "CPU/Dispatch.h"
#include "CUDA/Module.h"

#include <cstring>

using namespace attune::rt;

/// The tensors that callers give; the handle's own end the table.
static uint32_t shownTensors(const attune_rt_descriptor &descriptor) {
  uint32_t count = descriptor.tensor_count;
  while (count > 0 && isPrepared(descriptor.tensors[count - 1]))
    --count;
  return count;
}

attune_status attune_rt_info(attune_rt_handle *ticket, attune_info *result) {
  HandleUse use(ticket, "info");
  if (use.status)
    return use.status;
  attune_rt_handle *handle = &*use;
  const attune_rt_descriptor &descriptor = *handle->descriptor;
  if (!result || result->size < sizeof(size_t))
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_info: argument 'info': expected a struct whose size is set, but got %s; set it "
                "to sizeof(attune_info)",
                descriptor.name, result ? "one without" : "null");

  attune_info info = {};
  info.size = result->size < sizeof(info) ? result->size : sizeof(info);
  info.version = ATTUNE_ABI_VERSION;
  info.name = descriptor.name;
  info.summary = descriptor.summary;
  info.compiler = descriptor.compiler;
  info.isa = onCpu(*handle) ? isaName(handle->variant->target) : cudaArchName(*handle->cuda);
  info.device_type = static_cast<int32_t>(handle->device.device_type);
  info.device_id = handle->device.device_id;
  info.threads = handle->threads;
  {
    QuestionLock lock(*handle);
    info.scratch_bytes = handle->scratch ? handle->scratchBytes : 0;
  }
  info.batch = descriptor.sizes[ATTUNE_RT_BATCH];
  info.queries = descriptor.sizes[ATTUNE_RT_QUERIES];
  info.keys = descriptor.sizes[ATTUNE_RT_KEYS];
  info.heads = descriptor.heads;
  info.kv_heads = descriptor.kv_heads;
  info.head_dim = descriptor.head_dim;
  info.value_dim = descriptor.value_dim;
  info.tensor_count = shownTensors(descriptor);
  info.plan_count = static_cast<int32_t>(handle->variant->plan_count);
  for (int32_t i = 0; i < info.plan_count; ++i) {
    const attune_rt_plan &plan = handle->variant->plans[i];
    info.plans[i] = {plan.form, plan.from_length, static_cast<size_t>(plan.scratch_bytes)};
  }
  memcpy(result, &info, info.size);
  return ATTUNE_OK;
}

attune_status attune_rt_tensor_info(attune_rt_handle *ticket, uint32_t index, attune_tensor_info *result) {
  HandleUse use(ticket, "tensor");
  if (use.status)
    return use.status;
  attune_rt_handle *handle = &*use;
  const attune_rt_descriptor &descriptor = *handle->descriptor;
  if (!result || result->size < sizeof(size_t))
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_tensor: argument 'info': expected a struct whose size is set, but got %s; set it "
                "to sizeof(attune_tensor_info)",
                descriptor.name, result ? "one without" : "null");
  uint32_t count = shownTensors(descriptor);
  if (index >= count)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_tensor: argument 'index': expected less than %u (the number of tensors), but got %u",
                descriptor.name, count, index);

  const attune_rt_tensor &tensor = descriptor.tensors[index];
  attune_tensor_info info = {};
  info.size = result->size < sizeof(info) ? result->size : sizeof(info);
  info.name = tensor.name;
  info.role = static_cast<int32_t>(tensor.role);
  info.rank = static_cast<int32_t>(tensor.rank);
  info.dtype = toDLDataType(tensor.dtype);
  memcpy(info.shape, tensor.dims, sizeof(info.shape));
  memcpy(result, &info, info.size);
  return ATTUNE_OK;
}
