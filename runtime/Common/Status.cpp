//===- Status.cpp - Error codes with a message for the calling thread -----===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"

#include <cstdarg>
#include <cstdio>

using namespace attune::rt;

namespace {
// One buffer a thread: threads that share a handle do not overwrite each other's messages.
thread_local char message[768];
} // namespace

attune_status attune::rt::fail(attune_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return status;
}

void attune::rt::clearMessage() { message[0] = '\0'; }

extern "C" const char *attune_rt_message(void) { return message; }
