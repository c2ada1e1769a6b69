//===- MachineMemory.h - How much memory there is -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_MACHINEMEMORY_H
#define ATTUNE_SUPPORT_MACHINEMEMORY_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace attune {

/// Bytes of memory that this process may have: what nothing that a user gives may exceed. The least of the machine's
/// memory and of what its control groups allow, as containers do.
int64_t machineMemory();

/// The least limit of a process's control groups, of version 1 or 2, which are mounted at `mount` and listed in the
/// file `list`; INT64_MAX if there is none.
int64_t groupMemory(llvm::StringRef mount = "/sys/fs/cgroup", llvm::StringRef list = "/proc/self/cgroup");

} // namespace attune

#endif // ATTUNE_SUPPORT_MACHINEMEMORY_H
