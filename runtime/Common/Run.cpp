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

#include "CPU/Launch.h"
#include "CUDA/Launch.h"

using namespace attune::rt;

namespace {

attune_status enterPrepared(const attune_rt_handle *handle, const char *function) {
  if (attune_status status = enterHandle(handle, function))
    return status;
  if (handle->prepared)
    return ATTUNE_OK;
  const char *name = handle->descriptor->name;
  return fail(ATTUNE_ERROR_STATE,
              "%s_%s: argument 'handle': expected a prepared handle, but got one that is not; call "
              "%s_prepare first",
              name, function, name);
}

const attune_rt_plan &planFor(const attune_rt_handle &handle, const Arguments &arguments) {
  return handle.variant->plans[pickPlan(*handle.variant, arguments.queries(), arguments.keys())];
}

size_t workspaceBytes(const attune_rt_plan &plan, const Arguments &arguments) {
  int64_t bytes = plan.workspace ? plan.workspace(arguments.slots) : 0;
  return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

attune_status checkWorkspace(const Place &place, const attune_rt_plan &plan, const Arguments &arguments,
                             void *workspace, size_t bytes) {
  size_t needed = workspaceBytes(plan, arguments);
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

attune_status runOnCpu(attune_rt_handle &handle, const Place &place, const attune_rt_plan &plan, Arguments &arguments) {
  HandleLock lock(handle, place);
  if (lock.status)
    return lock.status;
  if (fillWithoutKeys(*handle.descriptor, arguments))
    return ATTUNE_OK;
  CpuLauncher launcher{handle};
  plan.run(&launcher, arguments.slots);
  return ATTUNE_OK;
}

} // namespace

attune_status attune_rt_workspace(attune_rt_handle *handle, const attune_rt_tensors *tensors, size_t *bytes) {
  if (attune_status status = enterPrepared(handle, "workspace"))
    return status;
  Place place = placeOf(*handle, "workspace");
  if (!bytes)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument 'bytes': expected where to store the number, but got null",
                place.library, place.function);
  Arguments arguments;
  if (attune_status status = collectArguments(*handle, place, tensors, /*data=*/false, arguments))
    return status;
  *bytes = workspaceBytes(planFor(*handle, arguments), arguments);
  return ATTUNE_OK;
}

attune_status attune_rt_plan_index(attune_rt_handle *handle, const attune_rt_tensors *tensors, int32_t *index) {
  if (attune_status status = enterPrepared(handle, "plan"))
    return status;
  Place place = placeOf(*handle, "plan");
  if (!index)
    return fail(ATTUNE_ERROR_ARGUMENT, "%s_%s: argument 'index': expected where to store the number, but got null",
                place.library, place.function);
  Arguments arguments;
  if (attune_status status = collectArguments(*handle, place, tensors, /*data=*/false, arguments))
    return status;
  *index = static_cast<int32_t>(pickPlan(*handle->variant, arguments.queries(), arguments.keys()));
  return ATTUNE_OK;
}

attune_status attune_rt_run(attune_rt_handle *handle, const attune_rt_tensors *tensors, void *workspace, size_t bytes,
                            void *stream) {
  if (attune_status status = enterPrepared(handle, "run"))
    return status;
  Place place = placeOf(*handle, "run");
  Arguments arguments;
  if (attune_status status = collectArguments(*handle, place, tensors, /*data=*/true, arguments))
    return status;
  const attune_rt_plan &plan = planFor(*handle, arguments);
  if (attune_status status = checkWorkspace(place, plan, arguments, workspace, bytes))
    return status;
  if (nothingToCompute(*handle->descriptor, arguments))
    return ATTUNE_OK;
  arguments.slots[arguments.slotCount - 1] = reinterpret_cast<uint64_t>(workspace);
  return onCpu(*handle) ? runOnCpu(*handle, place, plan, arguments)
                        : runOnCuda(*handle, place, plan, arguments, stream);
}
