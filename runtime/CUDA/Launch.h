//===- Launch.h - Runs a plan's kernels on a stream -----------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CUDA_LAUNCH_H
#define ATTUNE_RT_CUDA_LAUNCH_H

#include "Common/Handle.h"

namespace attune::rt {

/// Enqueues the plan's kernels on `stream` (null: the default stream) and returns without waiting; nothing is allocated.
/// `spare` is where products may put tokens, behind the plan's own workspace.
/// What earlier work on the device did wrong may be reported here; the plan then stops at that launch.
attune_status runOnCuda(attune_rt_handle &handle, const Place &place, const attune_rt_plan &plan, const void *slots,
                        char *spare, void *stream);

} // namespace attune::rt

#endif // ATTUNE_RT_CUDA_LAUNCH_H
