//===- FuzzArguments.cpp - Any tensors as arguments of a compiled library -===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/fuzzed.yaml, compiled and linked in with a runtime that is instrumented. Each input is one call of prepare or
// run on tensors that are right but for a few fields. The call must answer as attune.h says, touch nothing outside of
// its tensors, and nothing at all where it refuses.
//
//===----------------------------------------------------------------------===//
#include "DrawnTensor.h"

#include "attune-rt/Descriptor.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace attune::fuzz;

extern "C" {
attune_status fuzzed_create(const attune_options *options, void **handle);
attune_status fuzzed_prepare(void *handle, const attune_rt_tensors *parameters);
attune_status fuzzed_workspace(void *handle, const attune_rt_tensors *tensors, size_t *bytes);
attune_status fuzzed_plan(void *handle, const attune_rt_tensors *tensors, int32_t *index);
attune_status fuzzed_run(void *handle, const attune_rt_tensors *tensors, void *workspace, size_t bytes, void *stream);
attune_status fuzzed_info(void *handle, attune_info *info);
attune_status fuzzed_tensor(void *handle, uint32_t index, attune_tensor_info *info);
const char *fuzzed_message(void);
}

namespace {

constexpr uint8_t untouched = 0x3e; // as f32 .186, as i32 beyond every number of keys

void fail(const char *what) {
  std::fprintf(stderr, "%s; the library says: %s\n", what, fuzzed_message());
  std::abort();
}

/// The arguments of one function.
struct Call {
  std::vector<DrawnTensor> tensors;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;

  void add(const attune_tensor_info &info) {
    buffers.push_back(std::make_unique<GuardedBuffer>());
    tensors.emplace_back(info, *buffers.back());
  }
  void draw(Choices &choices, const Sizes &sizes);
  /// As the library takes them, no longer than they are.
  std::unique_ptr<const void *[]> pack(Choices &choices, bool &right) const;
  /// Takes up the sizes that the tensors show.
  bool isRight(Sizes &sizes) const;
  bool isInside() const;
  /// Sorted, those of outputs or of all others; one that two tensors have comes twice.
  std::vector<uintptr_t> elements(bool outputs) const;
};

struct Library {
  Library();
  void *handle = nullptr;
  Call prepare, run;
  size_t keyLengths = 0; // place in run
};

void Call::draw(Choices &choices, const Sizes &sizes) {
  for (DrawnTensor &tensor : tensors) {
    bool moves = choices.ConsumeIntegralInRange(0, 31) == 31;
    size_t other = moves ? choices.ConsumeIntegralInRange<size_t>(0, tensors.size() - 1) : 0;
    // Key lengths are drawn into a buffer of their own.
    moves = moves && !tensor.isLengths() && !tensors[other].isLengths();
    tensor.draw(choices, sizes, moves ? buffers[other].get() : nullptr);
  }
  for (const std::unique_ptr<GuardedBuffer> &buffer : buffers)
    buffer->fill(untouched);
}

std::unique_ptr<const void *[]> Call::pack(Choices &choices, bool &right) const {
  size_t count = tensors.size() + 1;
  std::unique_ptr<const void *[]> result(new const void *[count]);
  size_t size = count * sizeof(void *);
  if (choices.ConsumeIntegralInRange(0, 63) == 63) {
    size = choices.ConsumeIntegralInRange<size_t>(0, size + 9);
    right = right && size == count * sizeof(void *);
  }
  result[0] = reinterpret_cast<const void *>(size);
  for (size_t i = 1; i < count; ++i)
    result[i] = tensors[i - 1].get();
  return result;
}

bool Call::isRight(Sizes &sizes) const {
  return std::all_of(tensors.begin(), tensors.end(), [&](const DrawnTensor &tensor) { return tensor.isRight(sizes); });
}

bool Call::isInside() const {
  return std::all_of(tensors.begin(), tensors.end(), [](const DrawnTensor &tensor) { return tensor.isInside(); });
}

std::vector<uintptr_t> Call::elements(bool outputs) const {
  std::vector<uintptr_t> all;
  for (const DrawnTensor &tensor : tensors)
    if (std::vector<uintptr_t> own = tensor.elements(); tensor.isOutput() == outputs)
      all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  return all;
}

/// Every element is of four bytes and lies at a multiple of that, so two that share a byte are one.
bool isApart(const Call &call) {
  std::vector<uintptr_t> written = call.elements(true), read = call.elements(false), both;
  std::set_intersection(written.begin(), written.end(), read.begin(), read.end(), std::back_inserter(both));
  return both.empty() && std::adjacent_find(written.begin(), written.end()) == written.end();
}

void expect(const Call &call, bool right, attune_status status) {
  if (right ? status == ATTUNE_OK : status == ATTUNE_ERROR_ARGUMENT)
    return;
  for (const DrawnTensor &tensor : call.tensors)
    tensor.print();
  fail(right ? "expected that right arguments are taken" : "expected that wrong arguments are refused");
}

void callPrepare(Library &library, Choices &choices) {
  library.prepare.draw(choices, {1, 1, 1});
  Sizes sizes = {-1, -1, -1};
  bool right = library.prepare.isRight(sizes);
  auto packed = library.prepare.pack(choices, right);
  // What lies elsewhere would be read where it is right.
  if (!right || library.prepare.isInside())
    expect(library.prepare, right,
           fuzzed_prepare(library.handle, reinterpret_cast<const attune_rt_tensors *>(packed.get())));
}

Library::Library() {
  attune_options options = ATTUNE_OPTIONS_INIT;
  options.threads = 1;
  attune_info info{};
  info.size = sizeof(info);
  if (fuzzed_create(&options, &handle) || fuzzed_info(handle, &info))
    fail("expected a handle");
  for (uint32_t i = 0; i < info.tensor_count; ++i) {
    attune_tensor_info tensor{};
    tensor.size = sizeof(tensor);
    if (fuzzed_tensor(handle, i, &tensor))
      fail("expected a tensor");
    (tensor.role == ATTUNE_PARAMETER ? prepare : run).add(tensor);
    if (tensor.dtype.code == kDLInt)
      keyLengths = run.tensors.size() - 1;
  }
  Choices none(nullptr, 0);
  callPrepare(*this, none);
}

/// Key lengths are 0 … keys, now and then not; whether they are.
bool drawKeyLengths(Library &library, Choices &choices, const Sizes &sizes) {
  int64_t keys = sizes[ATTUNE_RT_KEYS];
  GuardedBuffer &buffer = *library.run.buffers[library.keyLengths];
  int64_t most = std::min<int64_t>(keys, INT32_MAX - 1) + (choices.ConsumeIntegralInRange(0, 31) == 31);
  auto *lengths = reinterpret_cast<int32_t *>(buffer.begin());
  int32_t length = choices.ConsumeIntegralInRange<int32_t>(0, static_cast<int32_t>(most));
  std::fill(lengths, lengths + GuardedBuffer::bytes / 4, length);
  return length <= keys || sizes[ATTUNE_RT_BATCH] == 0;
}

/// Everything but elements of outputs and the key lengths is as it was.
void checkMemory(const Library &library, bool ran) {
  std::vector<uintptr_t> written = ran ? library.run.elements(true) : std::vector<uintptr_t>();
  for (size_t i = 0; i < library.run.buffers.size(); ++i) {
    GuardedBuffer &buffer = *library.run.buffers[i];
    if (i == library.keyLengths || buffer.isFilled(untouched))
      continue;
    for (uint8_t *byte = buffer.begin(); byte != buffer.end(); ++byte)
      if (*byte != untouched &&
          !std::binary_search(written.begin(), written.end(), reinterpret_cast<uintptr_t>(byte) / 4 * 4))
        fail("expected that nothing but the outputs is written");
  }
}

/// Both answer alike; the bytes that a run needs.
size_t askBoth(void *handle, const attune_rt_tensors *tensors) {
  size_t bytes = 0;
  int32_t plan = 0;
  attune_status first = fuzzed_workspace(handle, tensors, &bytes);
  if (fuzzed_plan(handle, tensors, &plan) != first)
    fail("expected the same answer to both questions");
  return bytes;
}

void runOn(Library &library, Choices &choices, const attune_rt_tensors *tensors, bool right, const Sizes &sizes) {
  static GuardedBuffer workspace;
  size_t bytes = askBoth(library.handle, tensors);
  // What is right but lies elsewhere is the caller's promise.
  if (right && (!library.run.isInside() || bytes > GuardedBuffer::bytes))
    return;
  right = right && isApart(library.run);
  right = drawKeyLengths(library, choices, sizes) && right;
  bytes = std::min(bytes, GuardedBuffer::bytes);
  attune_status status =
      fuzzed_run(library.handle, tensors, workspace.end() - (bytes + 63) / 64 * 64, bytes, /*stream=*/nullptr);
  expect(library.run, right, status);
  checkMemory(library, status == ATTUNE_OK);
}

void callRun(Library &library, Choices &choices) {
  Sizes drawn = {choices.ConsumeIntegralInRange(0, 3), choices.ConsumeIntegralInRange(0, 40),
                 choices.ConsumeIntegralInRange(0, 40)};
  Sizes shown = {-1, -1, -1};
  library.run.draw(choices, drawn);
  bool right = library.run.isRight(shown);
  auto packed = library.run.pack(choices, right);
  runOn(library, choices, reinterpret_cast<const attune_rt_tensors *>(packed.get()), right, right ? shown : drawn);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Library library;
  Choices choices(data, size);
  choices.ConsumeIntegralInRange(0, 7) == 7 ? callPrepare(library, choices) : callRun(library, choices);
  return 0;
}
