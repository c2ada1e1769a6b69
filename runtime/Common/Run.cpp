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

#include "Apart.h"
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

/// What a run needs of the caller's workspace.
struct Needs {
  size_t plan = 0; ///< bytes of the plan's own
  size_t all = 0;  ///< with those of products, which begin at `spare`
  size_t spare() const { return roundUp(plan, ATTUNE_WORKSPACE_ALIGNMENT); }
};

attune_status tooLarge(const Place &place, const Binding &binding) {
  const attune_rt_tensor *tensor = binding.boundBy[ATTUNE_RT_QUERIES];
  tensor = tensor ? tensor : binding.boundBy[ATTUNE_RT_KEYS];
  tensor = tensor ? tensor : binding.boundBy[ATTUNE_RT_BATCH];
  return fail(ATTUNE_ERROR_ARGUMENT,
              "%s_%s: argument '%s': expected sizes that need at most " ATTUNE_RT_MOST_BYTES
              " of workspace, but batch %lld with %lld queries and %lld keys needs more; split the batch or the sequence",
              place.library, place.function, tensor ? tensor->name : "tensors", static_cast<long long>(binding.batch()),
              static_cast<long long>(binding.queries()), static_cast<long long>(binding.keys()));
}

/// The numbers of plans and of products end at the largest that there is instead of wrapping around.
attune_status findNeeds(const attune_rt_handle &handle, const Place &place, const attune_rt_plan &plan,
                        const Arguments &arguments, Needs &needs) {
  int64_t own = plan.workspace ? plan.workspace(arguments.slots) : 0;
  size_t products = productWorkspace(handle, arguments.binding);
  if (own > mostBytes || products > static_cast<size_t>(mostBytes))
    return tooLarge(place, arguments.binding);
  needs.plan = own > 0 ? static_cast<size_t>(own) : 0;
  needs.all = products ? needs.spare() + products : needs.plan;
  return ATTUNE_OK;
}

attune_status checkWorkspace(const Place &place, size_t needed, void *workspace, size_t bytes) {
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
  Needs needs;
  attune_status status =
      findNeeds(handle, placeOf(handle, "workspace"), planFor(handle, handle.question), handle.question, needs);
  if (!status)
    *bytes = needs.all;
  return status;
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
  Needs needs;
  if (attune_status status = findNeeds(handle, place, plan, arguments, needs))
    return status;
  if (attune_status status = checkWorkspace(place, needs.all, workspace, bytes))
    return status;
  if (attune_status status = checkApart(*handle.descriptor, place, arguments, workspace, needs.all))
    return status;
  if (nothingToCompute(*handle.descriptor, arguments))
    return ATTUNE_OK;
  arguments.slots[arguments.workspaceSlot] = reinterpret_cast<uint64_t>(workspace);
  if (!onCpu(handle))
    return runOnCuda(handle, place, plan, arguments.slots, static_cast<char *>(workspace) + needs.spare(), stream);
  runOnCpu(handle, plan, arguments);
  return ATTUNE_OK;
}
