//===- Arguments.cpp - The tensors of a run, checked, and the plan for them ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include <cstring>

using namespace attune::rt;

namespace {

bool isGiven(const attune_rt_tensor &tensor) { return tensor.role != ATTUNE_RT_PARAMETER; }

attune_status checkStruct(const attune_rt_descriptor &descriptor, const Place &place,
                          const attune_rt_tensors *tensors) {
  size_t expected = sizeof(size_t);
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    expected += isGiven(descriptor.tensors[i]) ? sizeof(void *) : 0;
  if (!tensors)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument 'tensors': expected a struct of tensors, but got null",
                place.library, place.function);
  if (tensors->size < sizeof(size_t) || tensors->size > expected || tensors->size % sizeof(void *) != 0)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument 'tensors': expected its field size to be %zu, but got %zu; set it "
                "to sizeof(%s_tensors)",
                place.library, place.function, expected, tensors->size, place.library);
  return ATTUNE_OK;
}

/// n = N where the mechanism needs it. Sizes must be bound.
attune_status checkConditions(const attune_rt_descriptor &descriptor, const Place &place, const Arguments &arguments) {
  if (!(descriptor.flags & ATTUNE_RT_QUERIES_EQUAL_KEYS) || arguments.queries() == arguments.keys())
    return ATTUNE_OK;
  const char *keys = arguments.boundBy[ATTUNE_RT_KEYS], *queries = arguments.boundBy[ATTUNE_RT_QUERIES];
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: argument '%s': expected as many keys as queries (%lld, argument '%s'), but "
              "got %lld; this mechanism is causal over one sequence",
              place.library, place.function, keys ? keys : "keys", static_cast<long long>(arguments.queries()),
              queries ? queries : "queries", static_cast<long long>(arguments.keys()));
}

attune_status checkKeyLengths(const Place &place, const attune_rt_tensor &tensor, const SlotView &view, int64_t keys) {
  for (int64_t entry = 0; entry < view.size(0); ++entry) {
    int32_t length;
    memcpy(&length, view.data() + entry * view.stride(0) * static_cast<int64_t>(sizeof(length)), sizeof(length));
    if (length < 0 || length > keys)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected lengths in 0 ... %lld (the number of keys), but "
                  "got %d at entry %lld",
                  place.library, place.function, tensor.name, static_cast<long long>(keys), length,
                  static_cast<long long>(entry));
  }
  return ATTUNE_OK;
}

attune_status checkElements(attune_rt_handle &handle, const Place &place, Arguments &arguments) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    SlotView tensor = view(arguments, descriptor, i);
    if (!(descriptor.tensors[i].flags & ATTUNE_RT_KEY_LENGTHS) || tensor.rank != 1 || !tensor.present())
      continue;
    if (attune_status status = checkKeyLengths(place, descriptor.tensors[i], tensor, arguments.keys()))
      return status;
  }
  return ATTUNE_OK;
}

} // namespace

attune_status attune::rt::collectArguments(attune_rt_handle &handle, const Place &place,
                                           const attune_rt_tensors *tensors, bool data, Arguments &arguments) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  if (attune_status status = checkStruct(descriptor, place, tensors))
    return status;
  size_t room = (tensors->size - sizeof(size_t)) / sizeof(void *);
  startBinding(descriptor, arguments);
  TensorChecks checks{place, handle.device, data};
  size_t position = 0;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    uint64_t *slots = arguments.slots + arguments.slotCount;
    int count = 1 + 2 * static_cast<int>(tensor.rank);
    arguments.firstSlot[i] = arguments.slotCount;
    arguments.slotCount += count;
    if (!isGiven(tensor)) {
      memcpy(slots, handle.parameterArguments.slots + handle.parameterArguments.firstSlot[i],
             static_cast<size_t>(count) * sizeof(uint64_t));
      continue;
    }
    const DLTensor *given = position < room ? tensors->tensor[position] : nullptr;
    ++position;
    if (attune_status status = checkTensor(checks, tensor, given, arguments, slots))
      return status;
  }
  arguments.slots[arguments.slotCount++] = 0;
  if (attune_status status = checkConditions(descriptor, place, arguments))
    return status;
  return data && onCpu(handle) ? checkElements(handle, place, arguments) : ATTUNE_OK;
}

uint32_t attune::rt::pickPlan(const attune_rt_variant &variant, int64_t queries, int64_t keys) {
  using Wide = unsigned __int128;
  Wide n = static_cast<uint64_t>(queries), N = static_cast<uint64_t>(keys);
  uint32_t picked = 0;
  if (n + N == 0) // L is 0
    return picked;
  for (uint32_t i = 1; i < variant.plan_count; ++i)
    if (static_cast<Wide>(static_cast<uint64_t>(variant.plans[i].from_length)) * (n + N) <= 2 * n * N)
      picked = i;
  return picked;
}
