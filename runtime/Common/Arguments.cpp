//===- Arguments.cpp - The tensors of a run, checked, and the plan for them ===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "Values.h"

#include "attune-rt/PickPlan.h"

using namespace attune::rt;

namespace {

/// Keys that no tensor of a run shows are as many as the queries where the mechanism needs that.
void bindKeysToQueries(const attune_rt_descriptor &descriptor, Binding &binding) {
  if (!(descriptor.flags & ATTUNE_RT_QUERIES_EQUAL_KEYS) || binding.keys() >= 0)
    return;
  binding.sizes[ATTUNE_RT_KEYS] = binding.queries();
  binding.boundBy[ATTUNE_RT_KEYS] = binding.boundBy[ATTUNE_RT_QUERIES];
}

/// n = N where the mechanism needs it. Sizes must be bound.
attune_status checkConditions(const attune_rt_descriptor &descriptor, const Place &place, const Binding &binding) {
  if (!(descriptor.flags & ATTUNE_RT_QUERIES_EQUAL_KEYS) || binding.queries() == binding.keys())
    return ATTUNE_OK;
  const attune_rt_tensor *keys = binding.boundBy[ATTUNE_RT_KEYS], *queries = binding.boundBy[ATTUNE_RT_QUERIES];
  if (keys && isParameter(*keys))
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument '%s': expected as many queries as keys (%lld, parameter '%s'), but got %lld; prepare "
                "again with parameters of that size",
                place.library, place.function, queries ? queries->name : "queries",
                static_cast<long long>(binding.keys()), keys->name, static_cast<long long>(binding.queries()));
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: argument '%s': expected as many keys as queries (%lld, argument '%s'), but "
              "got %lld; this mechanism works over one sequence",
              place.library, place.function, keys ? keys->name : "keys", static_cast<long long>(binding.queries()),
              queries ? queries->name : "queries", static_cast<long long>(binding.keys()));
}

/// Whether sizes keep a rule, and if not, what was expected of the size.
bool keepsRule(const attune_rt_size_rule &rule, const Binding &binding, const char *&expected) {
  int64_t size = binding.sizes[rule.symbol];
  switch (rule.kind) {
  case ATTUNE_RT_MULTIPLE:
    expected = "a multiple of";
    return size % rule.value == 0;
  case ATTUNE_RT_EXACTLY:
    expected = "exactly";
    return size == rule.value;
  case ATTUNE_RT_AT_MOST:
    expected = "at most";
    return size <= rule.value;
  default: { // no blocks: there are no keys, and every output is 0
    int64_t blocks = size / rule.value;
    return blocks == 0 || binding.queries() % blocks == 0;
  }
  }
}

/// The flag of offsets that cut these tokens into sequences.
uint32_t flagOf(uint32_t symbol) { return symbol == ATTUNE_RT_KEYS ? ATTUNE_RT_KEY_OFFSETS : ATTUNE_RT_OFFSETS; }

/// The offsets that cut the queries, or the keys; null of a batch.
const attune_rt_tensor *offsetsOf(const attune_rt_descriptor &descriptor, uint32_t symbol) {
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    if (descriptor.tensors[i].flags & flagOf(symbol))
      return descriptor.tensors + i;
  return nullptr;
}

/// What the mechanism needs of numbers of tokens, but those of sequences, which their offsets say. Sizes must be bound.
attune_status checkSizeRules(const attune_rt_descriptor &descriptor, const Place &place, const Binding &binding) {
  for (uint64_t i = 0; i < descriptor.size_rule_count; ++i) {
    const attune_rt_size_rule &rule = descriptor.size_rules[i];
    const char *expected = nullptr;
    if (offsetsOf(descriptor, rule.symbol) || keepsRule(rule, binding, expected))
      continue;
    const attune_rt_tensor *tensor = binding.boundBy[rule.symbol];
    const char *what = rule.symbol == ATTUNE_RT_QUERIES ? "queries" : rule.symbol == ATTUNE_RT_KEYS ? "keys" : "batch";
    long long value = rule.value, size = binding.sizes[rule.symbol];
    if (expected)
      return fail(ATTUNE_ERROR_ARGUMENT,
                  "%s_%s: argument '%s': expected %s %lld %s, but got %lld; this mechanism was "
                  "compiled for that",
                  place.library, place.function, tensor ? tensor->name : what, expected, value, what, size);
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument '%s': expected a number of blocks of %lld keys that divides the queries (%lld), but "
                "got %lld blocks; block i of the queries goes with block i of the keys",
                place.library, place.function, tensor ? tensor->name : what, value,
                static_cast<long long>(binding.queries()), size / value);
  }
  return ATTUNE_OK;
}

/// Offsets, and what the mechanism needs of the sequences that they cut.
attune_status checkSequences(const attune_rt_descriptor &descriptor, const Place &place, const attune_rt_tensor &tensor,
                             const SlotView &offsets, const Binding &binding) {
  for (uint32_t symbol : {ATTUNE_RT_QUERIES, ATTUNE_RT_KEYS}) {
    if (!(tensor.flags & flagOf(symbol)))
      continue;
    if (attune_status status = checkOffsets(place, tensor, offsets, binding.sizes[symbol]))
      return status;
    for (uint64_t i = 0; i < descriptor.size_rule_count; ++i)
      if (const attune_rt_size_rule &rule = descriptor.size_rules[i]; rule.symbol == symbol && rule.kind == ATTUNE_RT_AT_MOST)
        if (attune_status status = checkLongest(place, tensor, offsets, rule.value))
          return status;
  }
  return ATTUNE_OK;
}

attune_status checkElements(attune_rt_handle &handle, const Place &place, const Arguments &arguments) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    uint32_t kinds = ATTUNE_RT_KEY_LENGTHS | ATTUNE_RT_OFFSETS | ATTUNE_RT_KEY_OFFSETS | ATTUNE_RT_POSITIONS;
    if (!isGiven(tensor) || !(tensor.flags & kinds) || tensor.rank != 1)
      continue;
    SlotView numbers = view(arguments, descriptor, i);
    if (!numbers.present())
      continue;
    const Binding &binding = arguments.binding;
    attune_status status = ATTUNE_OK;
    if (tensor.flags & ATTUNE_RT_KEY_LENGTHS)
      status = checkKeyLengths(place, tensor, numbers, binding.keys());
    const attune_rt_tensor *cuts = offsetsOf(descriptor, ATTUNE_RT_QUERIES); // which come before the others, and are checked then
    SlotView offsets = view(arguments, descriptor, cuts ? static_cast<uint32_t>(cuts - descriptor.tensors) : i);
    if (tensor.flags & (ATTUNE_RT_OFFSETS | ATTUNE_RT_KEY_OFFSETS))
      status = checkSequences(descriptor, place, tensor, numbers, binding);
    if (!status && tensor.flags & ATTUNE_RT_KEY_OFFSETS && descriptor.flags & ATTUNE_RT_QUERIES_EQUAL_KEYS)
      status = checkSameOffsets(place, tensor, numbers, offsets);
    if (!status && tensor.flags & ATTUNE_RT_POSITIONS)
      status = checkPositions(place, tensor, numbers, binding.queries(), cuts ? &offsets : nullptr);
    if (status)
      return status;
  }
  return ATTUNE_OK;
}

} // namespace

attune_status attune::rt::checkStruct(const attune_rt_descriptor &descriptor, const Place &place,
                                      const attune_rt_tensors *tensors, bool parameters) {
  const char *what = parameters ? "parameters" : "tensors";
  size_t expected = sizeof(size_t);
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    if (parameters ? isParameter(descriptor.tensors[i]) : isGiven(descriptor.tensors[i]))
      expected += sizeof(void *);
  if (!tensors)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument '%s': expected a struct of tensors, but got null",
                place.library, place.function, what);
  if (tensors->size < sizeof(size_t) || tensors->size > expected || tensors->size % sizeof(void *) != 0)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument '%s': expected its field size to be %zu, but got %zu; set it "
                "to sizeof(%s_%s)",
                place.library, place.function, what, expected, tensors->size, place.library, what);
  return ATTUNE_OK;
}

const DLTensor *attune::rt::tensorAt(const attune_rt_tensors &tensors, size_t position) {
  size_t room = (tensors.size - sizeof(size_t)) / sizeof(void *);
  return position < room ? tensors.tensor[position] : nullptr;
}

attune_status attune::rt::collectArguments(attune_rt_handle &handle, const Place &place,
                                           const attune_rt_tensors *tensors, bool data, Arguments &arguments) {
  const attune_rt_descriptor &descriptor = *handle.descriptor;
  if (attune_status status = checkStruct(descriptor, place, tensors, /*parameters=*/false))
    return status;
  Binding &binding = arguments.binding;
  binding = handle.binding;
  TensorChecks checks{place, handle.device, data};
  size_t position = 0;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    if (isGiven(descriptor.tensors[i]))
      if (attune_status status = checkTensor(checks, descriptor.tensors[i], tensorAt(*tensors, position++), binding,
                                             arguments.slots + arguments.firstSlot[i]))
        return status;
  bindKeysToQueries(descriptor, binding);
  if (attune_status status = checkConditions(descriptor, place, binding))
    return status;
  if (attune_status status = checkSizeRules(descriptor, place, binding))
    return status;
  return data && onCpu(handle) ? checkElements(handle, place, arguments) : ATTUNE_OK;
}

uint32_t attune::rt::pickPlan(const attune_rt_variant &variant, int64_t queries, int64_t keys) {
  auto fromLength = [&](uint32_t plan) { return variant.plans[plan].from_length; };
  return pickPlan(variant.plan_count, fromLength, queries, keys);
}
