//===- Registry.h - Which handles are alive -------------------------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What create gives to a caller is no address but a ticket: the place of the handle in a table and how often that place
// was taken before. So one that was destroyed, that is of another library or that never was is refused, and no memory
// is read to find out. A place counts the calls that are under way: destroy ends the ticket at once, and the memory goes
// with the last of them.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_REGISTRY_H
#define ATTUNE_RT_COMMON_REGISTRY_H

#include "Handle.h"

namespace attune::rt {

struct HandlePlace;

/// Gives out the ticket of a new handle; null if there is no memory or no place left.
attune_rt_handle *registerHandle(attune_rt_handle &handle);

/// Ends a ticket. The handle is freed (freeHandle) now or, if calls on other threads are under way, by the last of them.
void unregisterHandle(attune_rt_handle *ticket);

/// Keeps the handle of a ticket alive for a call, whose message it starts afresh. `status` says whether there is one.
class HandleUse {
public:
  HandleUse(attune_rt_handle *ticket, const char *function);
  ~HandleUse();
  HandleUse(const HandleUse &) = delete;
  HandleUse &operator=(const HandleUse &) = delete;
  attune_rt_handle &operator*() const { return *handle; }

  attune_status status = ATTUNE_OK;

private:
  HandlePlace *place;
  attune_rt_handle *handle = nullptr;
  uint32_t process; ///< in which the call began
};

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_REGISTRY_H
