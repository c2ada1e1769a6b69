//===- Status.h - Error codes with a message for the calling thread -------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RT_COMMON_STATUS_H
#define ATTUNE_RT_COMMON_STATUS_H

#include "attune-rt/Descriptor.h"

namespace attune::rt {

/// Formats the message of the calling thread and returns `status`, so that a check reads `return fail(...)`.
[[gnu::format(printf, 2, 3)]] attune_status fail(attune_status status, const char *format, ...);

/// Forgets the message of the calling thread.
void clearMessage();

/// Names, for messages and attune_info, the function that is running and the library that it belongs to:
/// "rnn_causal_run". Lives in the frame of the entry point.
struct Place {
  const char *library;
  const char *function;
};

} // namespace attune::rt

#endif // ATTUNE_RT_COMMON_STATUS_H
