//===- Remedies.cpp - What to do about the driver's errors ----------------===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remedies.h"

using namespace attune::rt;

const char *attune::rt::nameFor(CuResult error) {
  switch (error) {
#define CASE(name, number, text)                                                                                       \
  case number:                                                                                                         \
    return "CUDA_ERROR_" #name;
    ATTUNE_CUDA_REMEDIES(CASE)
#undef CASE
  default:
    return "an error without a name";
  }
}

const char *attune::rt::remedyFor(CuResult error) {
  switch (error) {
#define CASE(name, number, text)                                                                                       \
  case number:                                                                                                         \
    return text;
    ATTUNE_CUDA_REMEDIES(CASE)
#undef CASE
  default:
    return "look the error up in the documentation of the call; if that does not help, earlier work on the device may "
           "be at fault, which compute-sanitizer finds";
  }
}
