//===- Launch.h - Runs the grid of a kernel on the handle's threads -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_CPU_LAUNCH_H
#define ATTUNE_RT_CPU_LAUNCH_H

#include "Common/Handle.h"

namespace attune::rt {

/// What a CPU plan's `launcher` points to.
struct CpuLauncher {
  attune_rt_handle &handle;
};

} // namespace attune::rt

#endif // ATTUNE_RT_CPU_LAUNCH_H
