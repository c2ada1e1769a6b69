//===- Run.cpp - workspace, plan_index and run ----------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// run checks everything first; from the plan's first store on, nothing can fail on the CPU.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Empty.h"
#include "Registry.h"

#include "CPU/Launch.h"
#include "CUDA/Launch.h"
#include "CUDA/Products.h"

using namespace attune::rt;

namespace {

const attune_rt_plan &planFor(const attune_rt_handle &handle, const Arguments &arguments) {
  return handle.variant->plans[pickPlan(*handle.variant, arguments.binding.queries(), arguments.binding.keys())];
}

size_t planBytes(const attune_rt_plan &plan, const Arguments &arguments) {
  int64_t bytes = plan.workspace ? plan.workspace(arguments.slots) : 0;
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

/// Where the workspace of products begins, behind the plan's own.
size_t spareOffset(const attune_rt_plan &plan, const Arguments &arguments) {
  return roundUp(planBytes(plan, arguments), ATTUNE_WORKSPACE_ALIGNMENT);
}

size_t workspaceBytes(const attune_rt_handle &handle, const attune_rt_plan &plan, const Arguments &arguments) {
  size_t spare = productWorkspace(handle, arguments.binding);
  return spare ? spareOffset(plan, arguments) + spare : planBytes(plan, arguments);
}

attune_status checkWorkspace(const attune_rt_handle &handle, const Place &place, const attune_rt_plan &plan,
                             const Arguments &arguments, void *workspace, size_t bytes) {
  size_t needed = workspaceBytes(handle, plan, arguments);
  if (needed == 0)
    return ATTUNE_OK;
  if (!workspace || bytes < needed)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument 'workspace': expected at least %zu bytes, but got %s%zu; ask "
                "%s_workspace for the number",
                place.library, place.function, needed, workspace ? "" : "null and ", bytes, place.library);
  if (size_t rest = reinterpret_cast<uint64_t>(workspace) % ATTUNE_WORKSPACE_ALIGNMENT)
    return fail(ATTUNE_ERROR_ARGUMENT,
                "%s_%s: argument 'workspace': expected an address that is a multiple of %d, but "
                "got one %zu bytes past that",
                place.library, place.function, ATTUNE_WORKSPACE_ALIGNMENT, rest);
  return ATTUNE_OK;
}

void runOnCpu(attune_rt_handle &handle, const attune_rt_plan &plan, const Arguments &arguments) {
  if (fillWithoutKeys(*handle.descriptor, arguments))
    return;
  CpuLauncher launcher{handle};
  plan.run(&launcher, arguments.slots);
}

/// Checks the tensors that a question is about. The caller holds the question lock.
attune_status askAbout(attune_rt_handle &handle, const Place &place, const attune_rt_tensors *tensors,
                       const char *resultName, const void *result) {
  if (attune_status status = checkPrepared(handle, place))
    return status;
  if (!result)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument '%s': expected where to store the number, but got null",
                place.library, place.function, resultName);
  return collectArguments(handle, place, tensors, /*data=*/false, handle.question);
}

} // namespace

attune_status attune_rt_workspace(attune_rt_handle *ticket, const attune_rt_tensors *tensors, size_t *bytes) {
  HandleUse use(ticket, "workspace");
  if (use.status)
    return use.status;
  attune_rt_handle &handle = *use;
  QuestionLock lock(handle);
  if (attune_status status = askAbout(handle, placeOf(handle, "workspace"), tensors, "bytes", bytes))
    return status;
  *bytes = workspaceBytes(handle, planFor(handle, handle.question), handle.question);
  return ATTUNE_OK;
}

attune_status attune_rt_plan_index(attune_rt_handle *ticket, const attune_rt_tensors *tensors, int32_t *index) {
  HandleUse use(ticket, "plan");
  if (use.status)
    return use.status;
  attune_rt_handle &handle = *use;
  QuestionLock lock(handle);
  if (attune_status status = askAbout(handle, placeOf(handle, "plan"), tensors, "index", index))
    return status;
  *index = static_cast<int32_t>(&planFor(handle, handle.question) - handle.variant->plans);
  return ATTUNE_OK;
}

attune_status attune_rt_run(attune_rt_handle *ticket, const attune_rt_tensors *tensors, void *workspace, size_t bytes,
                            void *stream) {
  HandleUse use(ticket, "run");
  if (use.status)
    return use.status;
  attune_rt_handle &handle = *use;
  Place place = placeOf(handle, "run");
  HandleLock lock(handle, place);
  if (lock.status)
    return lock.status;
  if (attune_status status = checkPrepared(handle, place))
    return status;
  Arguments &arguments = handle.running;
  if (attune_status status = collectArguments(handle, place, tensors, /*data=*/true, arguments))
    return status;
  const attune_rt_plan &plan = planFor(handle, arguments);
  if (attune_status status = checkWorkspace(handle, place, plan, arguments, workspace, bytes))
    return status;
  if (nothingToCompute(*handle.descriptor, arguments))
    return ATTUNE_OK;
  arguments.slots[arguments.workspaceSlot] = reinterpret_cast<uint64_t>(workspace);
  if (!onCpu(handle))
    return runOnCuda(handle, place, plan, arguments.slots,
                     static_cast<char *>(workspace) + spareOffset(plan, arguments), stream);
  runOnCpu(handle, plan, arguments);
  return ATTUNE_OK;
}
