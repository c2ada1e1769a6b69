//===- MachineMemory.h - How much memory there is -------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_SUPPORT_MACHINEMEMORY_H
#define ATTUNE_SUPPORT_MACHINEMEMORY_H

#include <cstdint>
#include <unistd.h>

namespace attune {

/// Bytes of memory that this machine has: what nothing that a user gives may exceed.
inline int64_t machineMemory() { return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE); }

} // namespace attune

#endif // ATTUNE_SUPPORT_MACHINEMEMORY_H
