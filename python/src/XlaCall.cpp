//===- XlaCall.cpp - Attention as a call of XLA ---------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs on XLA's threads, without the GIL. Attributes of a call: `handle`, the number of a handle, and `tensors`, for
// each argument its index among the tensors of a run, then those of prepare.
//
//===----------------------------------------------------------------------===//
#include "XlaCall.h"

#include "Errors.h"
#include "XlaTypes.h"

#include <map>
#include <random>
#include <string_view>

using namespace attune;
using namespace attune::python;

namespace {

/// Attentions by the numbers that programs know them by, and the lock that they are looked up under.
rt::ProcessLock keysLock;
std::map<int64_t, Handle *> keys;

/// Another one in a child of a fork than in its parent, so no generator of which the child has a copy.
int64_t drawKey() {
  std::random_device device;
  return static_cast<int64_t>((uint64_t(device()) << 32 | device()) >> 1);
}

DLDataType dtypeOf(int32_t dtype) {
  switch (dtype) {
  case xla::kF16:
    return {kDLFloat, 16, 1};
  case xla::kF32:
    return {kDLFloat, 32, 1};
  case xla::kF64:
    return {kDLFloat, 64, 1};
  case xla::kBF16:
    return {kDLBfloat, 16, 1};
  case xla::kS32:
    return {kDLInt, 32, 1};
  case xla::kS64:
    return {kDLInt, 64, 1};
  default:
    return {3, 8, 1}; // opaque: no library takes it
  }
}

DLTensor tensorOf(const xla::Buffer &buffer) {
  return {buffer.data, {kDLCPU, 0}, static_cast<int32_t>(buffer.rank), dtypeOf(buffer.dtype), buffer.dims, nullptr, 0};
}

const void *findAttribute(const xla::Attributes &attributes, std::string_view name, int32_t type) {
  for (int64_t i = 0; i < attributes.count; ++i)
    if (std::string_view(attributes.names[i]->data, attributes.names[i]->length) == name && attributes.types[i] == type)
      return attributes.items[i];
  throw StatusError(ATTUNE_ERROR_ARGUMENT,
                    "expected the attribute '" + std::string(name) + "' of a call, but got none");
}

Handle &findHandle(const xla::CallFrame &frame) {
  auto *scalar = static_cast<const xla::Scalar *>(findAttribute(frame.attributes, "handle", xla::kScalar));
  int64_t key = *static_cast<const int64_t *>(scalar->value);
  rt::LockScope lock(keysLock);
  auto found = keys.find(key);
  if (found == keys.end())
    throw StatusError(ATTUNE_ERROR_STATE,
                      "expected an attention of this process, but got a program that was compiled in "
                      "another one; trace the function again");
  return *found->second;
}

/// The tensors of a call, in the handle's order.
struct Call {
  Call(const xla::CallFrame &frame, const Handle &handle)
      : storage(static_cast<size_t>(frame.arguments.count + frame.results.count)), given(handle.runTensors().size()),
        prepared(handle.parameters().size()) {
    auto *places = static_cast<const xla::Array *>(findAttribute(frame.attributes, "tensors", xla::kArray));
    int64_t count = frame.arguments.count + frame.results.count;
    if (static_cast<int64_t>(places->count) != count)
      throw StatusError(ATTUNE_ERROR_ARGUMENT, "expected a place for each of " + std::to_string(count) +
                                                   " tensors, but got " + std::to_string(places->count));
    for (int64_t i = 0; i < count; ++i) {
      bool argument = i < frame.arguments.count;
      void *item = argument ? frame.arguments.items[i] : frame.results.items[i - frame.arguments.count];
      storage[i] = tensorOf(*static_cast<const xla::Buffer *>(item));
      place(static_cast<const int64_t *>(places->data)[i], &storage[i], handle);
    }
  }

  void place(int64_t index, const DLTensor *tensor, const Handle &handle) {
    auto runs = static_cast<int64_t>(handle.runTensors().size());
    auto all = runs + static_cast<int64_t>(handle.parameters().size());
    if (index < 0 || index >= all)
      throw StatusError(ATTUNE_ERROR_ARGUMENT,
                        "expected a place below " + std::to_string(all) + ", but got " + std::to_string(index));
    if (index < runs)
      return given.set(static_cast<size_t>(index), tensor);
    prepared.set(static_cast<size_t>(index - runs), tensor);
    prepares = true;
  }

  std::vector<DLTensor> storage;
  TensorStruct given, prepared;
  bool prepares = false;
};

void execute(const xla::CallFrame &frame) {
  Handle &handle = findHandle(frame);
  Call call(frame, handle);
  if (call.prepares)
    handle.prepareAndRun(call.prepared, call.given);
  else
    handle.run(call.given);
}

xla::Error *errorOf(const xla::Api &api, const char *message, int32_t code) {
  xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message, code};
  return api.createError(&arguments);
}

/// Says that we follow the version of the caller: what we read of it has been the same since its first.
void describe(const xla::CallFrame &frame, xla::Metadata &metadata) {
  metadata.version.major = frame.api ? frame.api->version.major : 0;
  metadata.version.minor = frame.api ? frame.api->version.minor : 1;
  metadata.traits = 0;
}

xla::Error *handleCall(xla::CallFrame *frame) {
  for (xla::Extension *extension = frame->extensions; extension; extension = extension->next)
    if (extension->type == xla::kMetadataExtension)
      return describe(*frame, *reinterpret_cast<xla::MetadataExtension *>(extension)->metadata), nullptr;
  if (frame->stage != xla::kExecute)
    return nullptr;
  try {
    execute(*frame);
    return nullptr;
  } catch (const StatusError &error) {
    bool state = error.status == ATTUNE_ERROR_STATE;
    return errorOf(*frame->api, error.what(), state ? xla::kFailedPrecondition : xla::kInvalidArgument);
  } catch (const std::exception &error) {
    return errorOf(*frame->api, error.what(), xla::kInternal);
  }
}

} // namespace

int64_t attune::python::xlaKey(Handle &handle) {
  rt::LockScope lock(keysLock);
  for (auto [key, known] : keys)
    if (known == &handle)
      return key;
  int64_t key;
  do
    key = drawKey();
  while (keys.count(key));
  keys[key] = &handle;
  return key;
}

nanobind::capsule attune::python::xlaTarget() {
  return nanobind::capsule(reinterpret_cast<void *>(handleCall), "xla._CUSTOM_CALL_TARGET");
}
