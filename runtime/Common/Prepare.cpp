//===- Prepare.cpp - All that runs need, made once ------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Copy.h"
#include "Registry.h"
#include "Values.h"

#include "CPU/Launch.h"
#include "CUDA/Launch.h"
#include "CUDA/Memory.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

using namespace attune::rt;

namespace {

constexpr size_t keptAlignment = 64;

size_t scratchOf(const attune_rt_variant &variant) {
  size_t largest = variant.prepare ? static_cast<size_t>(variant.prepare->scratch_bytes) : 0;
  for (uint32_t i = 0; i < variant.plan_count; ++i)
    if (static_cast<size_t>(variant.plans[i].scratch_bytes) > largest)
      largest = static_cast<size_t>(variant.plans[i].scratch_bytes);
  return largest;
}

/// One call of prepare. What it makes takes its place in the handle at the very end, so that a failure changes nothing.
class Preparation {
public:
  Preparation(attune_rt_handle &handle, const Place &place, const attune_rt_tensors *given)
      : handle(handle), place(place), given(given), descriptor(*handle.descriptor), binding(startBinding(descriptor)) {}

  attune_status run();

private:
  attune_status prepare();
  attune_status checkParameters();
  attune_status layOut();
  attune_status copyParameters();
  attune_status copyParameter(const attune_rt_tensor &tensor, const SlotView &view, bool onHost, char *to);
  attune_status moveToDevice();
  attune_status allocateScratch();
  attune_status runPlan();
  attune_status allocateWorkspace(size_t bytes);
  attune_status launch(const attune_rt_plan &plan, const void *slots);
  void commit();
  attune_status noMemory(size_t bytes, const char *purpose) const;

  bool isKept(uint32_t tensor) const { return !isGiven(descriptor.tensors[tensor]); }
  bool keepsAnything() const {
    for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
      if (isKept(i))
        return true;
    return false;
  }
  SlotView slotsOf(uint32_t tensor) const {
    return {slots() + handle.running.firstSlot[tensor], descriptor.tensors[tensor].rank};
  }
  uint64_t *slots() const { return reinterpret_cast<uint64_t *>(slotMemory.data); }

  attune_rt_handle &handle;
  const Place &place;
  const attune_rt_tensors *given;
  const attune_rt_descriptor &descriptor;
  Binding binding;
  Memory slotMemory; ///< of the whole table, as a run has them; those that a run is given stay unused
  Memory kept;       ///< on a GPU, what is copied there
  size_t keptBytes = 0;
  Memory workspace;
  DeviceMemory keptOnDevice, workspaceOnDevice;
};

attune_status Preparation::noMemory(size_t bytes, const char *purpose) const {
  return fail(ATTUNE_ERROR_MEMORY, "%s_%s: expected %zu bytes for %s, but they are not there", place.library,
              place.function, bytes, purpose);
}

attune_status Preparation::checkParameters() {
  TensorChecks checks{place, handle.device};
  checks.copied = true;
  size_t position = 0;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    if (!isParameter(tensor))
      continue;
    if (position == 0)
      if (attune_status status = checkStruct(descriptor, place, given, /*parameters=*/true))
        return status;
    if (attune_status status = checkTensor(checks, tensor, tensorAt(*given, position++), binding, slotsOf(i).slots))
      return status;
  }
  return ATTUNE_OK;
}

/// Adds up the memory of all that is kept.
attune_status Preparation::layOut() {
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    if (isPrepared(tensor))
      for (uint32_t dim = 0; dim < tensor.rank; ++dim)
        slotsOf(i).slots[1 + dim] = static_cast<uint64_t>(tensor.dims[dim]);
    size_t bytes = 0;
    if (isKept(i) && (!bytesOf(slotsOf(i), tensor.dtype, bytes) || bytes > PTRDIFF_MAX / 2 - keptBytes))
      return fail(ATTUNE_ERROR_MEMORY, "%s_%s: argument '%s': expected a tensor that fits memory, but its sizes do not",
                  place.library, place.function, tensor.name);
    keptBytes += roundUp(bytes, keptAlignment);
  }
  return kept.allocate(keptBytes, keptAlignment) ? ATTUNE_OK
                                                 : noMemory(keptBytes, "the parameters and what is made of them");
}

attune_status Preparation::copyParameter(const attune_rt_tensor &tensor, const SlotView &view, bool onHost, char *to) {
  Memory fetched;
  auto elementSize = static_cast<size_t>(elementBytes(tensor.dtype));
  if (!onHost)
    if (attune_status status = fetchFromDevice(*handle.cuda, place, view, elementSize, fetched))
      return status;
  copyRows(to, view, elementSize);
  return ATTUNE_OK;
}

attune_status Preparation::copyParameters() {
  char *next = kept.data;
  size_t position = 0;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
    if (!isKept(i))
      continue;
    const attune_rt_tensor &tensor = descriptor.tensors[i];
    SlotView view = slotsOf(i);
    size_t bytes = 0;
    bytesOf(view, tensor.dtype, bytes);
    bool onHost = !isParameter(tensor) || onCpu(handle) || isHostMemory(tensorAt(*given, position)->device);
    position += isParameter(tensor);
    if (isParameter(tensor) && bytes)
      if (attune_status status = copyParameter(tensor, view, onHost, next))
        return status;
    adopt(view, next);
    // The copy is what was checked, whatever another thread does to the original.
    int64_t elements = static_cast<int64_t>(bytes) / elementBytes(tensor.dtype);
    if (attune_status status = checkParameterValues(place, tensor, view, elements))
      return status;
    next += roundUp(bytes, keptAlignment);
  }
  return ATTUNE_OK;
}

/// The slots point into the copy from here on.
attune_status Preparation::moveToDevice() {
  if (onCpu(handle) || keptBytes == 0)
    return ATTUNE_OK;
  const CudaCode &code = *handle.cuda;
  if (attune_status status = keptOnDevice.allocate(code, place, keptBytes))
    return status;
  if (attune_status status = copyToDevice(code, place, keptOnDevice.data, kept.data, keptBytes))
    return status;
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    if (isKept(i))
      adopt(slotsOf(i), keptOnDevice.data + (slotsOf(i).data() - kept.data));
  return ATTUNE_OK;
}

attune_status Preparation::allocateScratch() {
  size_t largest = scratchOf(*handle.variant);
  if (handle.scratch || largest == 0 || !onCpu(handle))
    return ATTUNE_OK;
  // Whole pages: no two threads share a line, and each touches its own first.
  size_t stride = roundUp(largest, pageBytes), bytes = stride * static_cast<size_t>(handle.threads);
  auto *scratch = static_cast<char *>(aligned_alloc(pageBytes, bytes));
  if (scratch) {
    QuestionLock lock(handle); // info asks for it
    handle.scratchStride = stride, handle.scratchBytes = bytes;
    handle.scratch = scratch;
    return ATTUNE_OK;
  }
  return fail(ATTUNE_ERROR_MEMORY,
              "%s_%s: expected %zu bytes of scratch for %d threads, but they are not there; ask for "
              "fewer threads",
              place.library, place.function, bytes, handle.threads);
}

/// Fills the prepared tensors. Its slots are the parameters, the prepared tensors and the workspace.
attune_status Preparation::runPlan() {
  const attune_rt_plan *plan = handle.variant->prepare;
  if (!plan)
    return ATTUNE_OK;
  Memory own;
  if (!own.allocate((handle.running.workspaceSlot + 1) * sizeof(uint64_t), keptAlignment))
    return noMemory((handle.running.workspaceSlot + 1) * sizeof(uint64_t), "slots");
  auto *next = reinterpret_cast<uint64_t *>(own.data);
  for (bool prepared : {false, true})
    for (uint32_t i = 0; i < descriptor.tensor_count; ++i) {
      const attune_rt_tensor &tensor = descriptor.tensors[i];
      if (prepared ? !isPrepared(tensor) : !isParameter(tensor))
        continue;
      memcpy(next, slotsOf(i).slots, slotCount(tensor) * sizeof(uint64_t));
      next += slotCount(tensor);
    }
  int64_t bytes = plan->workspace ? plan->workspace(own.data) : 0;
  if (attune_status status = bytes > 0 ? allocateWorkspace(static_cast<size_t>(bytes)) : ATTUNE_OK)
    return status;
  *next = reinterpret_cast<uint64_t>(onCpu(handle) ? workspace.data : workspaceOnDevice.data);
  return launch(*plan, own.data);
}

attune_status Preparation::allocateWorkspace(size_t bytes) {
  if (!onCpu(handle))
    return workspaceOnDevice.allocate(*handle.cuda, place, bytes);
  return workspace.allocate(bytes, ATTUNE_WORKSPACE_ALIGNMENT) ? ATTUNE_OK : noMemory(bytes, "workspace");
}

/// Returns when what the plan computes is there.
attune_status Preparation::launch(const attune_rt_plan &plan, const void *slots) {
  if (onCpu(handle)) {
    CpuLauncher launcher{handle};
    plan.run(&launcher, slots);
    return ATTUNE_OK;
  }
  attune_status status = runOnCuda(handle, place, plan, slots, /*spare=*/nullptr, /*stream=*/nullptr);
  // Also after a launch that failed: those before it use the workspace.
  attune_status finished = finishDeviceWork(*handle.cuda, place);
  return status ? status : finished;
}

void Preparation::commit() {
  QuestionLock lock(handle);
  handle.changing.store(true);
  for (uint32_t i = 0; i < descriptor.tensor_count; ++i)
    for (const Arguments *arguments : {&handle.running, &handle.question})
      if (isKept(i))
        memcpy(view(*arguments, descriptor, i).slots, slotsOf(i).slots,
               slotCount(descriptor.tensors[i]) * sizeof(uint64_t));
  if (onCpu(handle))
    free(handle.kept);
  else
    freeOnDevice(*handle.cuda, handle.kept);
  handle.kept = onCpu(handle) ? kept.take() : keptOnDevice.take();
  handle.binding = binding;
  handle.prepared = true;
  handle.changing.store(false);
}

attune_status Preparation::prepare() {
  if (attune_status status = layOut())
    return status;
  if (attune_status status = copyParameters())
    return status;
  if (attune_status status = moveToDevice())
    return status;
  if (attune_status status = allocateScratch())
    return status;
  if (attune_status status = runPlan())
    return status;
  commit();
  return ATTUNE_OK;
}

attune_status Preparation::run() {
  size_t bytes = (handle.running.workspaceSlot + 1) * sizeof(uint64_t);
  if (!slotMemory.allocate(bytes, keptAlignment))
    return noMemory(bytes, "slots");
  if (attune_status status = checkParameters())
    return status;
  if (onCpu(handle) || !keepsAnything())
    return prepare();
  CudaScope scope(*handle.cuda, place);
  if (scope.status)
    return scope.status;
  // Parameters may be the results of work on any stream, and runs under way read what is about to be replaced.
  if (attune_status status = finishDeviceWork(*handle.cuda, place))
    return status;
  return prepare();
}

} // namespace

attune_status attune_rt_prepare(attune_rt_handle *ticket, const attune_rt_tensors *parameters) {
  HandleUse use(ticket, "prepare");
  if (use.status)
    return use.status;
  Place place = placeOf(*use, "prepare");
  HandleLock lock(*use, place);
  if (lock.status)
    return lock.status;
  return Preparation(*use, place, parameters).run();
}
