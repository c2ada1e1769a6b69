//===- Handle.cpp - create, destroy, and what they own --------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handle.h"

#include "CPU/Dispatch.h"
#include "CPU/ParallelFor.h"
#include "CUDA/Memory.h"
#include "CUDA/Module.h"
#include "CUDA/Products.h"
#include "Footprint.h"
#include "Registry.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace attune::rt;

namespace {

constexpr int32_t maxThreads = 1024;

bool isSound(const attune_rt_tensor &tensor) {
  if (tensor.rank > ATTUNE_RT_MAX_RANK || tensor.dtype > ATTUNE_RT_I32)
    return false;
  if ((tensor.flags & ATTUNE_RT_INDICES) && tensor.dtype != ATTUNE_RT_I32)
    return false;
  for (uint32_t dim = 0; dim < tensor.rank; ++dim)
    if (tensor.dims[dim] < (isPrepared(tensor) ? 0 : -ATTUNE_RT_SYMBOL_COUNT))
      return false;
  return true;
}

/// A table in which each tensor is sound and prepared ones come last.
bool areSound(const attune_rt_tensor *tensors, uint64_t count) {
  bool sound = true;
  for (uint64_t i = 0; sound && i < count; ++i)
    sound = isSound(tensors[i]) && (i == 0 || !isPrepared(tensors[i - 1]) || isPrepared(tensors[i]));
  return sound;
}

bool isSound(const attune_rt_variant &variant) {
  bool plans = variant.plan_count >= 1 && variant.plan_count <= ATTUNE_MAX_PLANS;
  return plans && (!variant.tensors || (variant.tensor_count <= UINT32_MAX && areSound(variant.tensors, variant.tensor_count)));
}

attune_status checkDescriptor(const attune_rt_descriptor *descriptor) {
  if (!descriptor || descriptor->size < sizeof(attune_rt_descriptor) ||
      descriptor->version != ATTUNE_RT_DESCRIPTOR_VERSION)
    return fail(ATTUNE_ERROR_LIBRARY,
                "create: expected a library description of version %u, but got version %u; compile "
                "the library again",
                ATTUNE_RT_DESCRIPTOR_VERSION, descriptor ? descriptor->version : 0);
  bool sound = areSound(descriptor->tensors, descriptor->tensor_count);
  for (uint64_t i = 0; sound && i < descriptor->variant_count; ++i)
    sound = isSound(descriptor->variants[i]);
  for (uint64_t i = 0; sound && i < descriptor->size_rule_count; ++i)
    sound = descriptor->size_rules[i].symbol < ATTUNE_RT_SYMBOL_COUNT &&
            descriptor->size_rules[i].kind <= ATTUNE_RT_BLOCKS && descriptor->size_rules[i].value >= 1;
  if (sound)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_LIBRARY,
              "%s_create: expected a sound library description, but got one past its limits; "
              "compile the library again",
              descriptor->name);
}

/// The caller's options, with the defaults of fields that it does not know yet.
attune_status readOptions(const Place &place, const attune_options *given, attune_options &options) {
  options = ATTUNE_OPTIONS_INIT;
  if (!given)
    return ATTUNE_OK;
  if (given->size < offsetof(attune_options, threads) || given->version != ATTUNE_ABI_VERSION)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument 'options': expected a struct of version %u that states its size, "
                "but got version %u and size %zu; start from ATTUNE_OPTIONS_INIT",
                place.library, place.function, ATTUNE_ABI_VERSION, given->size < 12 ? 0 : given->version, given->size);
  memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
  if (options.threads < 0 || options.threads > maxThreads)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: option 'threads': expected 0 (all CPUs) or 1 ... %d, but got %d",
                place.library, place.function, maxThreads, options.threads);
  if (options.device_type != 0 && options.device_type != kDLCPU && options.device_type != kDLCUDA)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: option 'device_type': expected %d (CPU), %d (CUDA) or 0 (what the library "
                "was compiled for), but got %d",
                place.library, place.function, kDLCPU, kDLCUDA, options.device_type);
  if (options.device_type != kDLCUDA && options.device_id != 0)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: option 'device_id': expected 0 unless device_type is %d (CUDA), but got %d", place.library,
                place.function, kDLCUDA, options.device_id);
  return ATTUNE_OK;
}

bool holdsCpuCode(const attune_rt_descriptor &descriptor) {
  for (uint64_t i = 0; i < descriptor.variant_count; ++i)
    if (descriptor.variants[i].target != ATTUNE_RT_CUDA)
      return true;
  return false;
}

attune_status createCpu(attune_rt_handle &handle, const Place &place, const attune_options &options) {
  handle.device = {};
  handle.device.device_type = static_cast<decltype(handle.device.device_type)>(kDLCPU);
  if (attune_status status = selectCpuVariant(place, *handle.descriptor, options.isa, &handle.variant))
    return status;
  handle.threads = options.threads ? options.threads : availableCpus();
  if (handle.threads > maxThreads)
    handle.threads = maxThreads;
  handle.parallelFor = options.parallel_for;
  handle.parallelForContext = options.parallel_for_context;
  if (handle.parallelFor || handle.threads == 1)
    return ATTUNE_OK;
  handle.pool = acquirePool(handle.threads);
  if (!handle.pool)
    return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected memory for %d threads, but there is none", place.library,
                place.function, handle.threads);
  handle.threads = poolThreads(handle.pool);
  return ATTUNE_OK;
}

attune_status createOn(attune_rt_handle &handle, const Place &place, const attune_options &options) {
  bool cpu = options.device_type == kDLCPU || (options.device_type == 0 && holdsCpuCode(*handle.descriptor));
  if (cpu)
    return createCpu(handle, place, options);
  handle.device = {};
  handle.device.device_type = static_cast<decltype(handle.device.device_type)>(kDLCUDA);
  handle.device.device_id = options.device_id;
  handle.threads = 1;
  if (attune_status status = loadCudaCode(handle, place))
    return status;
  return chooseProducts(handle, place);
}

/// From here on tensors are those of the code that was chosen.
void adoptTensors(attune_rt_handle &handle) {
  const attune_rt_variant &variant = *handle.variant;
  if (!variant.tensors)
    return;
  handle.own = *handle.descriptor;
  handle.own.tensors = variant.tensors;
  handle.own.tensor_count = static_cast<uint32_t>(variant.tensor_count);
  handle.descriptor = &handle.own;
}

/// The slots of runs and questions, absent until something is written to them.
attune_status allocateSlots(attune_rt_handle &handle, const Place &place) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  size_t slots = 1; // the workspace
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    slots += slotCount(descriptor.tensors[i]);
  size_t bytes = 2 * slots * sizeof(uint64_t) + descriptor.tensor_count * (sizeof(Footprint) + sizeof(uint32_t));
  handle.slotMemory = static_cast<char *>(calloc(1, bytes));
  if (!handle.slotMemory || slots > UINT32_MAX)
    return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected %zu bytes for the slots of %u tensors, but they are not there",
                place.library, place.function, bytes, descriptor.tensor_count);
  auto *first = reinterpret_cast<uint64_t *>(handle.slotMemory);
  auto *footprints = reinterpret_cast<Footprint *>(first + 2 * slots);
  auto *positions = reinterpret_cast<uint32_t *>(footprints + descriptor.tensor_count);
  uint32_t next = 0;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    positions[i] = next;
    next += slotCount(descriptor.tensors[i]);
  }
  handle.binding = startBinding(descriptor);
  handle.running = {first, positions, next, handle.binding, footprints};
  handle.question = {first + slots, positions, next, handle.binding};
  return ATTUNE_OK;
}

/// Gives back what the handle has on its device.
void releaseCuda(attune_rt_handle &handle) {
  freeOnDevice(*handle.cuda, handle.kept);
  releaseProducts(handle);
  unloadCudaCode(handle.cuda);
}

} // namespace

attune_status attune::rt::checkProcess(const attune_rt_handle &handle, const char *function) {
  if (!handle.leftBehind)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_STATE,
              "%s_%s: argument 'handle': expected a handle that this process created, but got one for a GPU from before a "
              "fork; CUDA does not outlive a fork: fork first, then create",
              handle.descriptor->name, function);
}

void attune::rt::leaveParent(attune_rt_handle &handle) {
  handle.leftBehind = handle.cuda != nullptr;
  handle.pool = nullptr;
  if (!handle.parallelFor)
    handle.threads = 1;
  if (!handle.changing.load())
    return;
  handle.changing.store(false);
  handle.prepared = false;
  handle.kept = nullptr;
}

attune_status attune::rt::checkPrepared(const attune_rt_handle &handle, const Place &place) {
  if (handle.prepared)
    return ATTUNE_OK;
  return fail(ATTUNE_ERROR_STATE,
              "%s_%s: argument 'handle': expected a prepared handle, but got one that is not; call "
              "%s_prepare first",
              place.library, place.function, place.library);
}

HandleLock::HandleLock(attune_rt_handle &handle, const Place &place) : handle(handle) {
  if (!handle.lock.isMine())
    handle.lock.lock();
  else
    status = fail(ATTUNE_ERROR_STATE,
                  "%s_%s: expected a handle that this thread is not running already, but got one "
                  "whose run called back into it; give each of the host's threads a handle of its own",
                  place.library, place.function);
}

HandleLock::~HandleLock() {
  if (!status)
    handle.lock.unlock();
}

void attune::rt::freeHandle(attune_rt_handle &handle) {
  if (handle.pool)
    releasePool(handle.pool);
  if (handle.cuda && !handle.leftBehind)
    releaseCuda(handle);
  else if (!handle.cuda)
    free(handle.kept);
  free(handle.scratch);
  free(handle.slotMemory);
  free(&handle);
}

attune_status attune_rt_create(const attune_rt_descriptor *descriptor, const attune_options *given,
                               attune_rt_handle **result) {
  clearMessage();
  if (attune_status status = checkDescriptor(descriptor))
    return status;
  Place place{descriptor->name, "create"};
  if (!result)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_create: argument 'handle': expected where to store the handle, but got null",
                place.library);
  *result = nullptr;
  attune_options options;
  if (attune_status status = readOptions(place, given, options))
    return status;

  auto *handle = static_cast<attune_rt_handle *>(calloc(1, sizeof(attune_rt_handle)));
  if (!handle)
    return fail(ATTUNE_ERROR_MEMORY, "%s_create: expected memory for a handle, but there is none", place.library);
  handle->descriptor = descriptor;
  attune_status status = createOn(*handle, place, options);
  if (!status) {
    adoptTensors(*handle);
    status = allocateSlots(*handle, place);
  }
  attune_rt_handle *ticket = status ? nullptr : registerHandle(*handle);
  if (!status && !ticket)
    status = fail(ATTUNE_ERROR_MEMORY, "%s_create: expected room for one more handle, but there is none; destroy others",
                  place.library);
  if (status) {
    freeHandle(*handle);
    return status;
  }
  *result = ticket;
  return ATTUNE_OK;
}

void attune_rt_destroy(attune_rt_handle *ticket) { unregisterHandle(ticket); }
